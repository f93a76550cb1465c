/** The versions of the policies that are kept. */
import * as z from 'zod/mini';
import { namesOfActors } from '../../../../store/d1/management-audit.ts';
import { pageLimit } from '../../pages.ts';
import { policySetVersions } from '../../../../store/d1/policy-sets.ts';
import { type Operation, protectOperation } from '../../define-operation.ts';
import { instanceOfCall, chosenSiteKey } from '../chosen-instance.ts';
import { isoTime } from '../access-rules/rule-response.ts';
import { diffPolicySets } from '../../../../policies/diff.ts';
import { setDifference, setOfVersion, writeFields, writeResponse, writeSet } from './stored-set.ts';

const PAGE_MAX_VERSIONS = 100;
const PAGE_DEFAULT_VERSIONS = 50;

const versionNumber = z.int().check(z.gte(0));

export const policyVersionOperations: readonly Operation[] = [
  /** The versions that are kept, who made each, and why. */
  protectOperation({
    name: 'policies-history',
    path: '/protect/policies/history',
    access: 'read',
    summary: 'List the versions of the policies',
    body: z.strictObject({
      siteKey: chosenSiteKey,
      limit: pageLimit(PAGE_MAX_VERSIONS, PAGE_DEFAULT_VERSIONS),
      /** Only versions below this one: the last version of the previous page. */
      before: z.optional(z.int().check(z.gte(1))),
    }),
    response: z.object({
      version: z.int(),
      versions: z.array(
        z.object({
          version: z.int(),
          at: z.string(),
          by: z.string(),
          /** What the key or the person is called, or was when they still were there. */
          byName: z.string(),
          note: z.nullable(z.string()),
          policies: z.int(),
          limits: z.int(),
          restores: z.nullable(z.int()),
        }),
      ),
    }),
    async handler({ body, ...context }) {
      const instance = await instanceOfCall(context, body.siteKey);
      const versions = await policySetVersions(context.store, instance.id, {
        before: body.before ?? null,
        limit: body.limit,
      });
      const names = await namesOfActors(
        context.store,
        context.account.id,
        versions.map(({ actor }) => actor),
      );
      return {
        version: instance.policyVersion,
        versions: versions.map(({ actor, at, ...version }) => ({
          ...version,
          at: isoTime(at),
          by: actor,
          byName: names.get(actor) ?? actor,
        })),
      };
    },
  }),
  /** What changed from one version to another. */
  protectOperation({
    name: 'diff-policies',
    path: '/protect/policies/diff',
    access: 'read',
    summary: 'Compare two versions of the policies',
    body: z.strictObject({
      siteKey: chosenSiteKey,
      from: versionNumber,
      /** Default: the current one. */
      to: z.optional(versionNumber),
    }),
    response: z.object({ from: z.int(), to: z.int(), differences: z.object(setDifference) }),
    async handler({ body, ...context }) {
      const instance = await instanceOfCall(context, body.siteKey);
      const to = body.to ?? instance.policyVersion;
      const [before, after] = await Promise.all([
        setOfVersion(context, instance, body.from),
        setOfVersion(context, instance, to),
      ]);
      return { from: body.from, to, differences: diffPolicySets(before, after) };
    },
  }),
  /** Restores the policies and limits of an earlier version, as a new version. */
  protectOperation({
    name: 'rollback-policies',
    path: '/protect/policies/rollback',
    access: 'write',
    summary: 'Restore the policies of an earlier version',
    body: z.strictObject({ ...writeFields, version: versionNumber }),
    response: writeResponse,
    async handler({ body, ...context }) {
      const { version } = body;
      return writeSet(context, body, (_, { instance }) => setOfVersion(context, instance, version), version);
    },
  }),
];
