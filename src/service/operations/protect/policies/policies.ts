/** The policies, limits and origins of an instance. Each write makes one new version of all of them. */
import * as z from 'zod/mini';
import { limit } from '../../../../contract/management/policy-set/limit.ts';
import {
  limitsField,
  originsField,
  originsStored,
  policiesField,
  policyItem,
  policyListed,
} from '../../../../contract/management/policy-set/policy-set.ts';
import { ruleHits } from '../../../../contract/management/edge-rule.ts';
import { instant } from '../../../../contract/management/time.ts';
import { retentionHorizon } from '../../../../store/event-log/retention.ts';
import { verdictLogOf } from '../../../../store/event-log/client/verdict-log.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';
import { protectOperation, type Operation, type OperationContext } from '../../define-operation.ts';
import { chosenSiteKey } from '../chosen-instance.ts';
import { hitsOf, isoTime } from '../access-rules/rule-response.ts';
import { distinctWindow } from '../verdicts/verdict-log-query.ts';
import {
  SET_BODY_MAX_BYTES,
  currentSet,
  listedPolicy,
  policyPlace,
  setOfVersion,
  writeFields,
  writeResponse,
  writeSet,
} from './stored-set.ts';
import { proposedOver, readPolicySet, readSetWith } from './read-set.ts';
import { policyName } from '../../../../contract/management/policy-set/policy.ts';

export const policyOperations: readonly Operation[] = [
  /** The current policies, limits and origins, or those of an earlier version. */
  protectOperation({
    name: 'get-policies',
    path: '/protect/policies',
    access: 'read',
    summary: 'Get the policies, limits and origins of an instance',
    body: z.strictObject({
      siteKey: chosenSiteKey,
      /** An earlier version. 0 is the empty set that every instance begins with. */
      version: z.optional(z.int().check(z.gte(0))),
      /** Adds how often each policy and limit fired since then, from the counts of the log; 0: for as long as verdicts are kept. */
      hitsSince: z.optional(instant),
    }),
    response: z.object({
      version: z.int(),
      policies: z.array(z.object({ ...policyListed.shape, hits: z.optional(ruleHits) })),
      limits: z.array(limit),
      /** By name, beside the limits, so that a client can send back the limits that it read. */
      limitHits: z.optional(z.record(z.string(), ruleHits)),
      origins: originsStored,
      /** From when on the hits are counted: a whole minute, and not before the log begins. */
      hitsSince: z.optional(z.iso.datetime()),
      /** `false`: more distinct rules and policies fired in an hour than the log counts separately. */
      hitsAreExact: z.optional(z.boolean()),
    }),
    async handler({ body, ...context }) {
      const current = await currentSet(context, body.siteKey);
      const version = body.version ?? current.version;
      const set = version === current.version ? current.set : await setOfVersion(context, current.instance, version);
      const { limits, origins } = set;
      const listed = set.policies.map(listedPolicy);
      if (body.hitsSince === undefined) return { version, policies: listed, limits, origins };
      const ids = [...listed.map(({ name }) => `policy:${name}`), ...limits.map(({ name }) => `limit:${name}`)];
      const { hits, areExact, since } = await countedHits(context, current.instance, ids, body.hitsSince);
      return {
        version,
        policies: listed.map((one, index) => ({ ...one, hits: hits[index] })),
        limits,
        limitHits: Object.fromEntries(limits.map(({ name }, index) => [name, hits[listed.length + index]!])),
        origins,
        hitsSince: since,
        hitsAreExact: areExact,
      };
    },
  }),
  /** Replaces all policies, all limits, all origins, or several of them, in one version. */
  protectOperation({
    name: 'set-policies',
    path: '/protect/policies/set',
    access: 'write',
    summary: 'Replace the policies, limits and origins of an instance',
    maxBodyBytes: SET_BODY_MAX_BYTES,
    body: z.strictObject({ ...writeFields, policies: policiesField, limits: limitsField, origins: originsField }),
    response: writeResponse,
    async handler({ body, ...context }) {
      return writeSet(context, body, (set) => readPolicySet(proposedOver(set, body)));
    },
  }),
  /** One more policy, at the end of the list or before another one. */
  protectOperation({
    name: 'add-policy',
    path: '/protect/policies/add',
    access: 'write',
    summary: 'Add one policy',
    body: z.strictObject({
      ...writeFields,
      policy: policyItem,
      /** Name of the policy that it comes before. Without it, the new one is the last. */
      before: z.optional(policyName),
    }),
    response: writeResponse,
    async handler({ body, ...context }) {
      const { policy, before } = body;
      return writeSet(context, body, (set) => {
        const { policies } = set;
        const place = before === undefined ? policies.length : policyPlace(policies, before);
        return readSetWith(
          { ...set, policies: policies.toSpliced(place, 0, policy as (typeof policies)[number]) },
          place,
        );
      });
    },
  }),
  /** Replaces one policy in its place. The new one may have another name. */
  protectOperation({
    name: 'update-policy',
    path: '/protect/policies/update',
    access: 'write',
    summary: 'Replace one policy',
    body: z.strictObject({ ...writeFields, name: policyName, policy: policyItem }),
    response: writeResponse,
    async handler({ body, ...context }) {
      const { name, policy } = body;
      return writeSet(context, body, (set) => {
        const { policies } = set;
        const place = policyPlace(policies, name);
        return readSetWith({ ...set, policies: policies.with(place, policy as (typeof policies)[number]) }, place);
      });
    },
  }),
  /** Gives one policy another place in the order. */
  protectOperation({
    name: 'move-policy',
    path: '/protect/policies/move',
    access: 'write',
    summary: 'Move one policy in the order',
    body: z.strictObject({
      ...writeFields,
      name: policyName,
      /** Name of the policy that it comes before. Without it, it becomes the last. */
      before: z.optional(policyName),
    }),
    response: writeResponse,
    async handler({ body, ...context }) {
      const { name, before } = body;
      return writeSet(context, body, (set) => {
        const { policies } = set;
        const place = policyPlace(policies, name);
        if (before === name) return set;
        const others = policies.toSpliced(place, 1);
        const wanted = before === undefined ? others.length : policyPlace(others, before);
        return { ...set, policies: others.toSpliced(wanted, 0, policies[place]!) };
      });
    },
  }),
  /** Removes one policy. Limits stay, also those that no policy uses any more. */
  protectOperation({
    name: 'remove-policy',
    path: '/protect/policies/remove',
    access: 'write',
    summary: 'Remove one policy',
    body: z.strictObject({ ...writeFields, name: policyName }),
    response: writeResponse,
    async handler({ body, ...context }) {
      return writeSet(context, body, (set) => ({
        ...set,
        policies: set.policies.toSpliced(policyPlace(set.policies, body.name), 1),
      }));
    },
  }),
];

async function countedHits(
  { store, nowMs }: Pick<OperationContext<unknown>, 'store' | 'nowMs'>,
  instance: StoredInstance,
  ids: readonly string[],
  hitsSince: number,
) {
  const window = distinctWindow({ since: hitsSince }, retentionHorizon(instance.retentionDays, nowMs), nowMs);
  const counted = await hitsOf(store, { log: verdictLogOf(instance) }, ids, window);
  return { ...counted, since: isoTime(window.since) };
}
