/**
 * `POST /protect/access-rules/export`: every rule that matches a filter, streamed as a file that `import` reads back to
 * the same rules. A plain list has no verdicts, so it can have the rules of one verdict only.
 */
import * as z from 'zod/mini';
import { decisions, edgeRuleTypes } from '../../../../contract/vocabulary.ts';
import { operation } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { instanceRuleBook, siteKey } from './instance-rule-book.ts';
import { canonicalRule } from './rule-response.ts';
import {
  csvColumns,
  type RuleFileFormat,
  ruleFileFormats,
  ruleFileLine,
} from '../../../../contract/management/rule-file/rule-file.ts';
import { streamRules } from './stream-rules.ts';

const mediaTypes: Record<RuleFileFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
  list: 'text/plain; charset=utf-8',
};

export const exportAccessRules = operation({
  name: 'export-access-rules',
  method: 'POST',
  path: '/protect/access-rules/export',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Export edge access rules as CSV, NDJSON or a plain list',
  body: z.strictObject({
    siteKey,
    format: z._default(z.enum(ruleFileFormats), 'ndjson'),
    type: z.optional(z.enum(edgeRuleTypes)),
    verdict: z.optional(z.enum(decisions)),
  }),
  response: z.string(),
  responseTypes: ['text/csv', 'application/x-ndjson', 'text/plain'],
  async handler({ body: { format, type, verdict, siteKey: wanted }, ...context }) {
    if (format === 'list' && verdict === undefined) {
      throw new OperationError('API.INVALID_BODY', 'A plain list has no verdicts: name the verdict to export', [
        { path: 'verdict', message: 'is required with the format list' },
      ]);
    }
    const { book } = await instanceRuleBook(context, wanted);
    const filter = { ...(type === undefined ? {} : { type }), ...(verdict === undefined ? {} : { verdict }) };
    const { head, parts } = await streamRules(book, filter, undefined, (rule) =>
      ruleFileLine(canonicalRule(rule), format),
    );
    const body = parts({ before: heading(format, verdict, head.total), between: '\n', after: '\n' });
    return new Response(body, {
      headers: {
        'content-type': mediaTypes[format],
        'content-disposition': `attachment; filename="access-rules.${format === 'list' ? 'txt' : format}"`,
        'cache-control': 'no-store',
      },
    });
  },
});

function heading(format: RuleFileFormat, verdict: string | undefined, total: number): string {
  if (format === 'csv') return `${csvColumns.join(',')}\n`;
  return format === 'list' ? `# ${total} rules, verdict ${verdict}\n` : '';
}
