/** `POST /protect/policies`: the current policies, limits and origins, or those of an earlier version. */
import * as z from 'zod/mini';
import { limit } from '../../../../contract/management/policy-set/limit.ts';
import { originsStored, policyListed } from '../../../../contract/management/policy-set/policy-api.ts';
import { ruleHits } from '../../../../contract/management/edge-rule.ts';
import { instant } from '../../../../contract/management/time.ts';
import { retentionHorizon } from '../../../../store/event-log/retention.ts';
import { verdictLogOf } from '../../../../store/event-log/client/verdict-log.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';
import { operation, type OperationContext } from '../../define-operation.ts';
import { siteKey } from '../access-rules/instance-rule-book.ts';
import { hitsOf } from '../access-rules/rule-hits.ts';
import { isoTime } from '../access-rules/rule-response.ts';
import { distinctWindow } from '../verdicts/verdict-log-query.ts';
import { currentSet, listedPolicy, setOfVersion } from './stored-set.ts';

export const getPolicies = operation({
  name: 'get-policies',
  method: 'POST',
  path: '/protect/policies',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Get the policies, limits and origins of an instance',
  body: z.strictObject({
    siteKey,
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
});

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
