/** What the rules of an Anubis policy file become, and what they say that a policy cannot. */
import { describe, expect, test } from 'vitest';
import { importAnubisPolicy } from '../../../../src/policies/import/anubis/import.ts';
import { printExpression } from '../../../../src/policies/text/print.ts';
import { expectRows } from '../../../support/rows.ts';

const settings = { mode: 'monitor', action: 'challenge' } as const;

function report(content: string) {
  const imported = importAnubisPolicy(content, settings);
  if (!imported.ok) throw new Error(imported.error);
  return imported.value;
}

/** Of one rule, as JSON, which YAML is too. */
function textOf(matcher: object): string {
  const [rule] = report(JSON.stringify({ bots: [{ name: 'one', action: 'DENY', ...matcher }] })).rules;
  return rule?.policy ? printExpression(rule.policy.when) : `refused: ${rule?.reason}`;
}

const file = `
# A file as an operator writes one.
bots:
  - import: (data)/bots/example.yaml
  - name: well-known
    path_regex: ^/\\.well-known/.*$
    action: ALLOW
  - name: Example Search
    user_agent_regex: \\+https://search\\.example/bot
    remote_addresses:
      - 192.0.2.0/24
      - 2001:db8::/32
    action: ALLOW
  - name: no-agent
    user_agent_regex: ^$
    action: DENY
  - name: generic-browser
    user_agent_regex: >-
      Mozilla|Opera
    action: CHALLENGE
    challenge:
      difficulty: 16
      algorithm: slow
  - name: heavier
    path_regex: /
    action: WEIGH
    weight:
      adjust: 5
dnsbl: false
`;

describe('a policy file', () => {
  test('becomes policies in its order, and says what it left out', () => {
    const { rules, notes } = report(file);
    expect(rules.map(({ policy }) => policy && [policy.name, printExpression(policy.when), policy.then])).toEqual([
      null,
      ['well-known', 'path startsWith "/.well-known/"', { action: 'allow' }],
      [
        'example-search',
        'userAgent contains "+https://search.example/bot" and ip ipIn ["192.0.2.0/24", "2001:db8::/32"]',
        { action: 'allow' },
      ],
      ['no-agent', 'not userAgent exists or userAgent equals ""', { action: 'block' }],
      ['generic-browser', 'userAgent contains "Mozilla" or userAgent contains "Opera"', { action: 'challenge' }],
      null,
    ]);
    expect(rules.every(({ policy }) => policy === null || policy.mode === 'monitor')).toBe(true);
    expect(rules[0]).toMatchObject({ place: 'rule 1', source: 'import: (data)/bots/example.yaml' });
    expect(rules[0]?.reason).toContain('import that file by itself');
    expect(rules[4]?.differences.join()).toContain('difficulty');
    expect(rules[5]?.reason).toContain('weight');
    expect(notes).toEqual(['"dnsbl" has no counterpart and is left out']);
  });

  test('has matchers that become the condition that means the same', () =>
    expectRows(
      [
        [
          { user_agent_regex: '(?i:python-requests|curl)' },
          'userAgent contains "python-requests" or userAgent contains "curl"',
        ],
        [{ user_agent_regex: '^Mozilla.*Example' }, 'userAgent matches "Mozilla*Example*"'],
        [{ path_regex: '^/(?:a|b)/.*\\.php$' }, 'path matches "/a/**.php" or path matches "/b/**.php"'],
        [{ path_regex: '^/robots\\.txt$|^/favicon\\.ico$' }, 'path in ["/robots.txt", "/favicon.ico"]'],
        [
          { headers_regex: { 'X-Test': '^yes$', 'CF-Worker': '.*' } },
          'header["x-test"] equals "yes" and not (not header["cf-worker"] exists or header["cf-worker"] equals "")',
        ],
        [
          { geoip: { countries: ['br', 'CN'] }, asns: { match: [64496] } },
          'country in ["BR", "CN"] and asn equals 64496',
        ],
        [
          { expression: 'userAgent.contains("x") && !("Accept" in headers)' },
          'userAgent contains "x" and not header["accept"] exists',
        ],
        [
          { expression: { all: ['path.startsWith("/a")', 'method == "GET" || method == "HEAD"'] } },
          'path startsWith "/a" and (method equals "GET" or method equals "HEAD")',
        ],
        [
          { expression: { any: ["host in ['a.example', 'b.example']", 'missingHeader(headers, "Sec-Fetch-Mode")'] } },
          'host in ["a.example", "b.example"] or not header["sec-fetch-mode"] exists',
        ],
        [
          { expression: 'query["q"].matches("^x.*$") && size(userAgent) == 0' },
          'query["q"] startsWith "x" and (not userAgent exists or userAgent equals "")',
        ],
        [
          { expression: 'userAgent.lowerAscii().contains("bot") && "q" in query' },
          'userAgent contains "bot" and query["q"] exists',
        ],
        [
          { expression: 'remoteAddress == "192.0.2.1" && (path.endsWith("/x") == false)' },
          'ip ipIn ["192.0.2.1/32"] and not path endsWith "/x"',
        ],
      ],
      ([matcher, text]) => {
        expect(textOf(matcher)).toBe(text);
      },
    ));

  test('has matchers that no condition expresses, and the report says why', () =>
    expectRows(
      [
        [{}, 'no matcher'],
        [{ user_agent_regex: 'a.c' }, 'any character'],
        [{ user_agent_regex: 7 }, 'must be a text'],
        [{ headers_regex: { 'X-Test': '(?i)yes' } }, 'compared exactly'],
        [{ headers_regex: { 'x y': 'a' } }, 'name of a header'],
        [{ remote_addresses: ['office'] }, 'no network'],
        [{ remote_addresses: [] }, 'list with values'],
        [{ geoip: { countries: ['Germany'] } }, 'capital letters'],
        [{ asns: { match: ['x'] } }, 'numbers of networks'],
        [{ expression: 'randInt(100) < 5' }, 'randInt()'],
        [{ expression: 'load_1m > 4' }, 'load_1m has no counterpart'],
        [{ expression: 'verifyFCrDNS(remoteAddress)' }, 'verifyFCrDNS()'],
        [{ expression: 'segments(path)[0] == "a"' }, 'segments()'],
        [{ expression: 'path.startsWith("/a") ? true : false' }, 'expected "&&", "||" or the end'],
        [{ expression: 'path + "x" == "y"' }, 'expected'],
        [{ expression: 'path' }, 'expected a comparison'],
        [{ expression: 'path.startsWith("a")' }, 'paths begin with "/"'],
        [{ expression: `${'!'.repeat(500)}true` }, 'nested deeper'],
        [{ expression: `${'('.repeat(500)}true` }, 'nested deeper'],
        [{ expression: { all: [], any: [] } }, 'under all or any'],
        [{ path_regex: '/x', action: 'DEBUG_BENCHMARK' }, 'no action like DEBUG_BENCHMARK'],
        [{ path_regex: '/x', unknown: 1 }, 'nothing like unknown'],
      ],
      ([matcher, reason]) => {
        expect(textOf(matcher)).toContain(reason);
      },
    ));

  test('that is malformed is refused', () =>
    expectRows(
      [
        ['deep flow', '['.repeat(100_000), 'nested deeper'],
        [
          'deep indents',
          Array.from({ length: 300 }, (_, level) => `${' '.repeat(level)}a:`).join('\n'),
          'nested deeper',
        ],
        ['deep blocks', `bots:\n  ${'- '.repeat(20_000)}x`, 'nested deeper'],
        ['references', 'a: &a [x, x]\nbots: [*a, *a]', 'plain YAML'],
        ['several documents', 'bots: []\n---\nbots: []', 'more than one'],
        ['broken YAML', 'bots: [', 'no YAML'],
        ['nothing', '', 'empty'],
        ['a page', '<html><body>Not found</body></html>', 'under "bots"'],
        ['no rule', 'bots: []', 'has no rule'],
        ['too many rules', `bots: [${'x, '.repeat(1001)}]`, '1001 rules'],
        ['a long file', `# ${'x'.repeat(600_000)}`, 'longer than'],
      ],
      ([, content, message]) => {
        expect(importAnubisPolicy(content, settings)).toMatchObject({
          ok: false,
          error: expect.stringContaining(message),
        });
      },
    ));

  test('takes no fields from the prototype', () => {
    const { rules } = report('bots:\n  - {name: a, action: DENY, __proto__: {path_regex: /x}}\n  - constructor\n');
    expect(rules.map(({ outcome }) => outcome)).toEqual(['not-expressible', 'not-expressible']);
  });
});
