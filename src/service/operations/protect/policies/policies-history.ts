/** `POST /protect/policies/history`: the versions that are kept, who made each, and why. */
import * as z from 'zod/mini';
import { policySetVersions } from '../../../../store/d1/policy-sets.ts';
import { operation } from '../../define-operation.ts';
import { siteKey } from '../access-rules/instance-rule-book.ts';
import { isoTime } from '../access-rules/rule-response.ts';
import { chosenInstance } from '../chosen-instance.ts';

const PAGE_MAX_VERSIONS = 100;
const PAGE_DEFAULT_VERSIONS = 50;

export const policiesHistory = operation({
  name: 'policies-history',
  method: 'POST',
  path: '/protect/policies/history',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'List the versions of the policies',
  body: z.strictObject({
    siteKey,
    limit: z._default(z.int().check(z.gte(1), z.lte(PAGE_MAX_VERSIONS)), PAGE_DEFAULT_VERSIONS),
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
        note: z.nullable(z.string()),
        policies: z.int(),
        limits: z.int(),
        restores: z.nullable(z.int()),
      }),
    ),
  }),
  async handler({ body, ...context }) {
    const instance = await chosenInstance(context, body.siteKey);
    const versions = await policySetVersions(context.store, instance.id, {
      before: body.before ?? null,
      limit: body.limit,
    });
    return {
      version: instance.policyVersion,
      versions: versions.map(({ actor, at, ...version }) => ({ ...version, at: isoTime(at), by: actor })),
    };
  },
});
