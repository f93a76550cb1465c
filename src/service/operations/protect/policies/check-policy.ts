/** `POST /protect/policies/check`: one condition in both forms, or what is wrong with it and where. */
import * as z from 'zod/mini';
import { conditionItem, conditionTree } from '../../../../contract/management/policy-set/policy-api.ts';
import { printExpression } from '../../../../policies/text/print.ts';
import { operation } from '../../define-operation.ts';
import { readCondition } from './read-set.ts';

export const checkPolicy = operation({
  name: 'check-policy',
  method: 'POST',
  path: '/protect/policies/check',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Check a condition and return both of its forms',
  body: z.strictObject({ when: conditionItem }),
  response: z.object({
    ok: z.boolean(),
    /** In canonical form; `null` where `ok` is false. */
    when: z.nullable(conditionTree),
    text: z.nullable(z.string()),
    error: z.nullable(
      z.object({
        message: z.string(),
        /** Of the text form: in UTF-16 code units from its start. */
        offset: z.nullable(z.int()),
        line: z.nullable(z.int()),
        column: z.nullable(z.int()),
        /** Of the tree: the bad part, such as `and.0.value`. */
        path: z.nullable(z.string()),
      }),
    ),
  }),
  async handler({ body }) {
    const read = readCondition(body.when);
    if (read.ok) return { ok: true, when: read.value, text: printExpression(read.value), error: null };
    const { message, place, path } = read.error;
    const { offset = null, line = null, column = null } = place ?? {};
    return { ok: false, when: null, text: null, error: { message, offset, line, column, path } };
  },
});
