/** Files of any content: an import reports on them or refuses them, and never throws; what it takes is a valid policy. */
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { policySet } from '../../../src/contract/management/policy-set/policy-set.ts';
import { importAnubisPolicy } from '../../../src/policies/import/anubis/import.ts';
import { importCloudflareRules } from '../../../src/policies/import/cloudflare/import.ts';
import type { ImportReport } from '../../../src/policies/import/report.ts';
import type { Result } from '../../../src/result.ts';
import { runs } from '../../support/properties.ts';

const settings = { mode: 'monitor', action: 'block' } as const;

function expectSound(report: Result<ImportReport, string>): number {
  if (!report.ok) return 0;
  const policies = report.value.rules.flatMap(({ policy }) => (policy === null ? [] : [policy]));
  expect(policySet.safeParse({ policies }).error?.issues ?? []).toEqual([]);
  return policies.length;
}

function joined(parts: readonly [word: string, joint: string][]): string {
  return parts
    .flatMap(([word, joint]) => [joint, word])
    .slice(1)
    .join(' ');
}

const cloudflareWord = fc.constantFrom(
  'http.host',
  'http.user_agent',
  'http.request.uri.path',
  'http.request.headers["x"][0]',
  'ip.src',
  'ip.src.asnum',
  'eq',
  'ne',
  'in',
  'contains',
  'matches',
  'wildcard',
  'gt',
  'and',
  'or',
  'xor',
  'not',
  'any(',
  'lower(',
  'len(',
  '"a"',
  '"/a*"',
  'r"b.*"',
  '7',
  '192.0.2.1',
  '{"a" "b"}',
  '{1 2..4}',
  '(',
  ')',
  '[*]',
  '$x',
  'cf.client.bot',
  '\\',
  '"',
);
const cloudflareTest = fc.constantFrom(
  'http.host eq "a"',
  'not http.user_agent contains "b"',
  '(http.request.uri.path matches "^/(a|b).*$")',
  'ip.src in {192.0.2.0/24}',
  'ip.src.asnum ge 7',
);
const cloudflareLine = fc
  .array(
    fc.tuple(fc.oneof({ weight: 4, arbitrary: cloudflareTest }, cloudflareWord), fc.constantFrom('and', 'or', 'xor')),
    {
      minLength: 1,
      maxLength: 5,
    },
  )
  .map(joined);
test('lines of any words', () => {
  let taken = 0;
  const soup = fc.array(cloudflareWord, { minLength: 1, maxLength: 9 }).map((words) => words.join(' '));
  fc.assert(
    fc.property(fc.oneof(cloudflareLine, soup), (line) => {
      taken += expectSound(importCloudflareRules(line, settings));
    }),
    { numRuns: runs(1000) },
  );
  expect(taken / runs(1000)).toBeGreaterThan(0.05);
});

test('rulesets of any JSON', () => {
  const rule = fc.record(
    {
      expression: fc.oneof(fc.constant('http.host eq "a"'), fc.anything()),
      action: fc.anything(),
      description: fc.string(),
    },
    { requiredKeys: [] },
  );
  const sound = fc.record({ expression: cloudflareTest, action: fc.constantFrom('block', 'skip', 'log', 'challenge') });
  const document = fc.oneof(fc.array(fc.oneof(sound, rule, fc.anything())), fc.array(sound), fc.jsonValue());
  let taken = 0;
  fc.assert(
    fc.property(document, (value) => {
      taken += expectSound(importCloudflareRules(JSON.stringify(value) ?? '', settings));
    }),
    { numRuns: runs(300) },
  );
  expect(taken / runs(300)).toBeGreaterThan(0.167);
});

const celWord = fc.constantFrom(
  'userAgent',
  'path',
  'headers',
  'query',
  'method',
  'remoteAddress',
  '.contains(',
  '.matches(',
  '.size()',
  '["X"]',
  '"a"',
  "'/b'",
  '==',
  '!=',
  'in',
  '&&',
  '||',
  '!',
  '(',
  ')',
  '[',
  ']',
  ',',
  '7',
  'true',
  'size(',
  '?',
  '+',
);
const celTest = fc.constantFrom(
  'userAgent.contains("a")',
  '!path.startsWith("/b")',
  '"X" in headers',
  'method == "POST"',
  '(query["q"].matches("^(a|b).*$"))',
);
const celLine = fc
  .array(fc.tuple(fc.oneof({ weight: 4, arbitrary: celTest }, celWord), fc.constantFrom('&&', '||')), {
    minLength: 1,
    maxLength: 5,
  })
  .map(joined);
test('expressions of any words in an Anubis file', () => {
  let taken = 0;
  const soup = fc.array(celWord, { minLength: 1, maxLength: 8 }).map((words) => words.join(' '));
  fc.assert(
    fc.property(fc.oneof(celLine, soup), (expression) => {
      const bots = [{ name: 'a', action: 'DENY', expression }];
      taken += expectSound(importAnubisPolicy(JSON.stringify({ bots }), settings));
    }),
    { numRuns: runs(800) },
  );
  expect(taken / runs(800)).toBeGreaterThan(0.062);
});

test('YAML of any signs', () => {
  const sign = fc.constantFrom(
    'bots:',
    '\n',
    '  ',
    '- ',
    '? ',
    ': ',
    '&a',
    '*a',
    '!!x ',
    '|',
    '>',
    '{',
    '}',
    '[',
    ']',
    '"',
    "'",
    '#',
    '%',
    '---',
    'x',
    ',',
    '\t',
  );
  const text = fc.oneof(
    fc.array(sign, { maxLength: 25 }).map((signs) => signs.join('')),
    fc.string({ unit: 'binary' }),
    fc
      .tuple(sign, sign)
      .map(([before, after]) => `bots:\n- name: a${before}\n  action: DENY\n  path_regex: ^/a${after}`),
  );
  let taken = 0;
  fc.assert(
    fc.property(text, (content) => {
      taken += expectSound(importAnubisPolicy(content, settings));
    }),
    { numRuns: runs(800) },
  );
  expect(taken / runs(800)).toBeGreaterThan(0.025);
});
