/**
 * `POST /protect/policies/import`: reads rules of another product and reports on each of them. Nothing changes unless
 * `apply` says so; then the policies that could be taken come behind or before the present ones, or in their place.
 */
import * as z from 'zod/mini';
import {
  importFormats,
  importPlaces,
  policyListed,
  type PolicySet,
} from '../../../../contract/management/policy-set/policy-set.ts';
import type { Policy } from '../../../../contract/management/policy-set/policy.ts';
import { importAnubisPolicy } from '../../../../policies/import/anubis/import.ts';
import { importCloudflareRules } from '../../../../policies/import/cloudflare/import.ts';
import { type ImportReport, PolicyNames } from '../../../../policies/import/report.ts';
import { decisions } from '../../../../contract/vocabulary.ts';
import { protectOperation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { readPolicySet } from './read-set.ts';
import { SET_BODY_MAX_BYTES, listedPolicy, writeFields, writeResponse, writeSet } from './stored-set.ts';

const { dryRun: _dryRun, ...fields } = writeFields;

export const importPolicies = protectOperation({
  name: 'import-policies',
  path: '/protect/policies/import',
  access: 'write',
  summary: 'Read rules of Cloudflare or Anubis as policies, with a report on each rule',
  maxBodyBytes: SET_BODY_MAX_BYTES,
  body: z.strictObject({
    ...fields,
    format: z.enum(importFormats),
    /** Each format has its own bound. */
    content: z.string(),
    /** Mode of the new policies. */
    mode: z._default(z.enum(['enforce', 'monitor']), 'monitor'),
    /** Action of rules that have none of their own. */
    action: z._default(z.enum(decisions), 'challenge'),
    place: z._default(z.enum(importPlaces), 'end'),
    /** `false`: reports only. */
    apply: z._default(z.boolean(), false),
  }),
  response: z.object({
    ...writeResponse.shape,
    taken: z.int(),
    takenWithADifference: z.int(),
    notExpressible: z.int(),
    rules: z.array(
      z.object({
        place: z.string(),
        source: z.string(),
        outcome: z.enum(['taken', 'taken-with-a-difference', 'not-expressible']),
        policy: z.nullable(policyListed),
        differences: z.array(z.string()),
        reason: z.nullable(z.string()),
      }),
    ),
    /** What the file says beside its rules, and is left out. */
    notes: z.array(z.string()),
  }),
  async handler({ body, ...context }) {
    const { format, content, mode, action, place, apply, ...write } = body;
    const read = (format === 'cloudflare' ? importCloudflareRules : importAnubisPolicy)(content, { mode, action });
    if (!read.ok) {
      throw new OperationError('API.INVALID_BODY', 'The file has no rules to import', [
        { path: 'content', message: read.error },
      ]);
    }
    const written = await writeSet(context, { ...write, dryRun: !apply }, (set) =>
      withImported(set, read.value, place),
    );
    return { ...written, ...reportOf(read.value) };
  },
});

function withImported(set: PolicySet, { rules }: ImportReport, place: (typeof importPlaces)[number]): PolicySet {
  const kept = place === 'replace' ? [] : set.policies;
  const names = new PolicyNames(kept.map(({ name }) => name));
  const imported = rules.flatMap(({ policy }): Policy[] =>
    policy === null ? [] : [{ ...policy, name: names.next(policy.name, policy.name) }],
  );
  const policies = place === 'start' ? [...imported, ...kept] : [...kept, ...imported];
  return readPolicySet({ ...set, policies });
}

function reportOf({ rules, notes }: ImportReport): object {
  const count = (outcome: string) => rules.filter((rule) => rule.outcome === outcome).length;
  return {
    taken: count('taken'),
    takenWithADifference: count('taken-with-a-difference'),
    notExpressible: count('not-expressible'),
    rules: rules.map(({ policy, ...rule }) => ({ ...rule, policy: policy && listedPolicy(policy) })),
    notes,
  };
}
