/** Configuration files that are hard to read: traps of YAML, mistakes with their places, and files made to do harm. */
import { expect, test } from 'vitest';
import { ConfigDocument } from '../../../../src/cli/apply/document.ts';
import { readConfig } from '../../../../src/cli/apply/read-config.ts';
import { RejectedFileError } from '../../../../src/cli/apply/report.ts';
import { expectRows } from '../../../support/rows.ts';

test('a file is read by YAML 1.2', () =>
  expectRows(
    [
      ['a: NO', { a: 'NO' }],
      ['%YAML 1.1\n---\na: NO\nb: 012\nc: 1:30', { a: 'NO', b: 12, c: '1:30' }],
      ['a: 012\nb: 0o17\nc: 1e3\nd: .5', { a: 12, b: 15, c: 1000, d: 0.5 }],
      ['a: 2027-01-31\nb: 1_000\nc: yes', { a: '2027-01-31', b: '1_000', c: 'yes' }],
      ['a: &x [1]\nb: *x', { a: [1], b: [1] }],
      ['a: { <<: 1 }', { a: { '<<': 1 } }],
      ['{"a": "\\u00e9", "b": [1e3, "1e3"]}', { a: 'é', b: [1000, '1e3'] }],
    ],
    ([text, value]) => {
      expect(new ConfigDocument(text)).toMatchObject({ problems: [], value });
    },
  ));

test('a file that was made to do harm is rejected', () =>
  expectRows(
    [
      ['brackets without end', '['.repeat(100_000)],
      ['brackets within brackets', `${'['.repeat(5000)}${']'.repeat(5000)}`],
      ['lists within lists', `${'- '.repeat(20_000)}1`],
      ['keys within keys', `${'? '.repeat(5000)}a`],
      ['indentation', Array.from({ length: 3000 }, (_, index) => `${' '.repeat(index)}a:`).join('\n')],
      ['aliases of aliases', `a: &a [1,1,1,1,1,1,1,1,1,1]\n${aliases('abcdefghi')}`],
      ['the prototype', 'version: 1\n__proto__: { sites: [] }'],
      ['a constructor', 'version: 1\nconstructor: {}'],
      ['a tag', 'version: !!js/function "x"'],
      ['a key that is a list', '? [1]\n: 2'],
    ],
    ([, text]) => {
      const { problems, value } = new ConfigDocument(text);
      expect({ count: problems.length, value }).toEqual({ count: expect.any(Number), value: undefined });
      expect(problems.length).toBeGreaterThan(0);
    },
  ));

/** Ten of the one before, for each letter. */
function aliases(letters: string): string {
  const lines = Array.from(letters)
    .slice(1)
    .map((letter, index) => `${letter}: &${letter} [${`*${letters[index]},`.repeat(10)}]`);
  return lines.join('\n');
}

test('every mistake of a file is listed at once, in its order, with line and column', async () => {
  const text = `version: 1
instances:
  - cname: 1e3
    settings: { monitor: yes, monitr: true }
    rules:
      - { type: ip, value: 192.0.2.1, verdict: deny }
      - { value: NO, verdict: block }
    lists:
      - { name: x, authorization: 1234567890 }
users: nobody
`;
  const error = await readConfig('my.yaml', text).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(RejectedFileError);
  expect((error as Error).message).toBe(`my.yaml has 7 problems. Nothing was changed.
  my.yaml:3:12  instances[0].cname must be a text. YAML reads 1e3 as something else: write "1e3"
  my.yaml:4:26  instances[0].settings.monitor must be true or false. YAML reads yes as a text
  my.yaml:4:31  instances[0].settings.monitr is not a known field
  my.yaml:6:48  instances[0].rules[0].verdict is not valid: Invalid option: expected one of "allow"|"challenge"|"block"
  my.yaml:7:9  instances[0].rules[1].type is missing
  my.yaml:9:35  instances[0].lists[0].authorization must be a reference such as \${ENV:NAME}: a file has no secrets
  my.yaml:10:8  users must be a list`);
});

test('a mistake in the place of a secret does not repeat what is written there', async () => {
  for (const written of [
    '1234567890',
    '{ header: X-Key, value: 1234567890 }',
    'hush-1234567890',
    '{ 1234567890: x }',
  ]) {
    const text = `version: 1\ninstances: [{ cname: a.example, lists: [{ name: x, authorization: ${written} }] }]`;
    const error = await readConfig('f', text).catch((thrown: unknown) => thrown);
    expect((error as Error).message).not.toContain('1234567890');
  }
  const channel = 'version: 1\nalertChannels: [{ name: x, shape: slack, webhookUrl: https://x.example/1234567890 }]';
  const error = await readConfig('f', channel).catch((thrown: unknown) => thrown);
  expect((error as Error).message).not.toContain('1234567890');
});

test('control characters of a file do not reach the terminal', async () => {
  const error = await readConfig('f', 'version: 1\n"a\\e[2Jb": 1').catch((thrown: unknown) => thrown);
  expect((error as Error).message).toContain('a\u{FFFD}[2Jb is not a known field');
});
