/** The examples of docs/policies.md: conditions are valid as printed, the set is one, and commands print what it says. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { reportLines } from '../../../src/cli/policies/printed.ts';
import { expressionProblem } from '../../../src/contract/management/policy-set/expression.ts';
import { policySet } from '../../../src/contract/management/policy-set/policy-set.ts';
import { policyFieldFacts } from '../../../src/contract/management/policy-set/policy-fields.ts';
import { importCloudflareRules } from '../../../src/policies/import/cloudflare/import.ts';
import { parseExpression } from '../../../src/policies/text/parse.ts';
import { printExpression } from '../../../src/policies/text/print.ts';
import { gatehouse } from '../../support/gatehouse.ts';

const page = readFileSync('docs/policies.md', 'utf8');
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 'gs'))].map(([, text = '']) => text.trim());
const consoleWith = (words: string) => blocks('console').find((block) => block.includes(words))!;

describe('the page about policies', () => {
  test.each(blocks('policy'))('%s', (text) => {
    const parsed = parseExpression(text);
    expect(parsed.ok && printExpression(parsed.value)).toBe(text.replace(/not \((method [^)]*)\)/, 'not $1'));
  });

  test('shows a set that is valid, and a tree that is one of its conditions', () => {
    const [set, tree] = blocks('json').map((text) => JSON.parse(text));
    const policies = set.policies.map((policy: { when: string }) => {
      const parsed = parseExpression(policy.when);
      return { ...policy, when: parsed.ok ? parsed.value : null };
    });
    expect(policySet.safeParse({ policies }).success).toBe(true);
    expect(expressionProblem(tree)).toBeNull();
    expect(printExpression(tree)).toBe(blocks('policy')[0]);
  });

  test('lists every field', () => {
    for (const field of Object.keys(policyFieldFacts)) expect(page).toMatch(new RegExp(`^\\| \`${field}[\`\\[]`, 'm'));
  });

  test('shows what the check prints', async () => {
    const { exitCode, errors } = await gatehouse(['policies', 'check', 'path startWith "/api"']);
    expect([exitCode, errors]).toEqual([1, consoleWith('policies check').split('\n').slice(1).join('\n')]);
  });

  test('shows what an import prints', () => {
    const lines = consoleWith('policies import').split('\n').slice(1);
    const content = lines.flatMap((line) => /^line \d+: (.*)/.exec(line)?.[1] ?? []).join('\n');
    const read = importCloudflareRules(content, { mode: 'monitor', action: 'challenge' });
    if (!read.ok) throw new Error(read.error);
    const rules = read.value.rules.map(({ policy, ...rule }) => ({
      ...rule,
      policy: policy && { ...policy, text: printExpression(policy.when) },
    }));
    expect(lines.join('\n')).toContain(reportLines(rules as Parameters<typeof reportLines>[0], []).join('\n'));
  });
});
