/** What Cloudflare's expressions and rulesets become, and what they say that a policy cannot. */
import { describe, expect, test } from 'vitest';
import { importCloudflareRules } from '../../../../src/policies/import/cloudflare/import.ts';
import { printExpression } from '../../../../src/policies/text/print.ts';
import { expectRows } from '../../../support/rows.ts';

const settings = { mode: 'enforce', action: 'challenge' } as const;

function imported(content: string) {
  const report = importCloudflareRules(content, settings);
  if (!report.ok) throw new Error(report.error);
  return report.value.rules;
}

/** Of one line. */
function textOf(line: string): string {
  const [rule] = imported(line);
  return rule?.policy ? printExpression(rule.policy.when) : `refused: ${rule?.reason}`;
}

describe('an expression', () => {
  test('becomes the condition that means the same', () =>
    expectRows(
      [
        ['(http.host eq "Shop.example")', 'host equals "shop.example"'],
        ['http.host in {"a.example" "b.example"}', 'host in ["a.example", "b.example"]'],
        ['starts_with(http.request.uri.path, "/api/")', 'path startsWith "/api/"'],
        [
          'http.request.uri.path contains "/wp-" and not ip.src in {192.0.2.0/24 2001:db8::1}',
          'path contains "/wp-" and not ip ipIn ["192.0.2.0/24", "2001:db8::1/128"]',
        ],
        ['ip.src ne 192.0.2.7', 'not ip ipIn ["192.0.2.7/32"]'],
        ['ip.geoip.country ne "DE"', 'not country equals "DE"'],
        [
          'ip.src.country in {"DE" "AT"} or ip.src.asnum in {64496 64500..64503}',
          'country in ["DE", "AT"] or asn equals 64496 or asn greaterThan 64499 and not asn greaterThan 64503',
        ],
        [
          'ip.src.asnum ge 64496 && ip.src.asnum lt 64512',
          'asn greaterThan 64495 and asn exists and not asn greaterThan 64511',
        ],
        [
          'lower(http.user_agent) contains "scrapy" || http.user_agent eq ""',
          'userAgent contains "scrapy" or not userAgent exists or userAgent equals ""',
        ],
        ['http.user_agent matches "(?i)(curl|wget)/"', 'userAgent contains "curl/" or userAgent contains "wget/"'],
        ['http.user_agent ~ r"^Mozilla/5\\.0$"', 'userAgent equals "Mozilla/5.0"'],
        ['http.request.method in {"POST" "PUT"}', 'method in ["POST", "PUT"]'],
        ['http.cookie contains "session="', 'header["cookie"] contains "session="'],
        ['len(http.referer) eq 0', 'not header["referer"] exists or header["referer"] equals ""'],
        ['any(http.request.headers["X-Key"][*] eq "a\\"b")', 'header["x-key"] equals "a\\"b"'],
        ['any(http.request.headers.names[*] eq "x-test")', 'header["x-test"] exists'],
        ['not has_key(http.request.cookies, "sid")', 'not cookie["sid"] exists'],
        ['http.request.uri.args["q"][0] contains "union"', 'query["q"] contains "union"'],
        ['any(starts_with(http.request.uri.args["q"][*], "x"))', 'query["q"] startsWith "x"'],
        ['http.request.uri.path.extension in {"php" "asp"}', 'path endsWith ".php" or path endsWith ".asp"'],
        ['http.request.uri.path wildcard "/*/admin"', 'path matches "/**/admin"'],
        ['http.request.headers["x"][0] strict wildcard "a*b"', 'header["x"] matches "a*b"'],
        ['cf.client.bot eq false', 'not bot["proof"] in ["range", "dns", "signature"]'],
        [
          'http.host eq "a.example" xor http.host eq "b.example"',
          'host equals "a.example" and not host equals "b.example" or not host equals "a.example" and host equals "b.example"',
        ],
        ['true', 'path startsWith "/"'],
        ['http.host eq "a.example" and true', 'host equals "a.example"'],
      ],
      ([line, text]) => {
        expect(textOf(line)).toBe(text);
      },
    ));

  test('that has no condition is not expressible, and the report says why', () =>
    expectRows(
      [
        ['cf.bot_management.score lt 30', 'another scale'],
        ['cf.threat_score gt 14', 'another scale'],
        ['http.request.uri contains "/x"', 'single query parameters'],
        ['http.request.uri.query contains "x"', 'single query parameters'],
        ['ip.src in $office', 'kept by Cloudflare'],
        ['ip.src in {192.0.2.1..192.0.2.9}', 'write it as networks'],
        ['ip.src.continent eq "EU"', 'list them'],
        ['ssl', 'does not know the scheme'],
        ['http.user_agent matches "bot.+x"', 'stands for any character'],
        ['http.user_agent matches "[^a]"', 'every other character'],
        ['http.user_agent matches r"\\d+"', 'more than one text'],
        ['lower(http.request.headers["x"][0]) eq "abc"', 'compared exactly'],
        ['lower(http.host) eq "ABC"', 'no request fulfils'],
        ['regex_replace(http.host, "a", "b") eq "x"', 'nothing like the function regex_replace()'],
        ['len(http.user_agent) gt 100', 'only whether it is empty'],
        ['any(http.request.headers["x"][*] ne "a")', 'other than ne'],
        ['all(http.request.headers["x"][*] eq "a")', 'cannot say all'],
        ['http.host eq "a', 'no closing quote'],
        ['http.host eq "a" and', 'expected a field, "not" or "(", found the end at character 21'],
        ['http.host eq "a")', 'expected "and", "or" or the end, found ")" at character 17'],
        ['http.request.method eq "post"', 'capital letters'],
        ['constructor eq "a"', 'constructor has no counterpart'],
      ],
      ([line, reason]) => {
        expect(textOf(line)).toContain(reason);
      },
    ));

  test('says what a policy does otherwise', () => {
    const [agent, path, header] = imported(
      ['http.user_agent contains "Bot"', 'http.request.uri.path eq "/a"', 'http.request.headers["x"][0] eq "1"'].join(
        '\n',
      ),
    );
    expect(agent).toMatchObject({ outcome: 'taken-with-a-difference', place: 'line 1' });
    expect(agent?.differences.join()).toContain('letter case');
    expect(path?.differences.join()).toContain('every way in which an origin may read it');
    expect(header?.differences.join()).toContain('sent several times');
    expect(imported('ip.src.country eq "DE"')[0]).toMatchObject({ outcome: 'taken', differences: [] });
  });

  test('that would be costly is refused', () =>
    expectRows(
      [
        ['deep parentheses', `${'('.repeat(5000)}ssl${')'.repeat(5000)}`, 'words'],
        ['many negations', `${'not '.repeat(500)}cf.client.bot`, 'nested deeper'],
        ['nested functions', `${'lower('.repeat(1000)}http.host`, 'nested deeper'],
        ['chained xor', Array(200).fill('cf.client.bot').join(' xor '), 'nested deeper'],
        ['a long text', `http.host eq "${'a'.repeat(15_000)}"`, 'at most 512'],
        ['a long expression', `http.host eq "${'a'.repeat(20_000)}"`, 'longer than'],
        ['a regular expression of many texts', `http.host matches "${'(a|b|c|d)'.repeat(10)}"`, 'more than 100 texts'],
        ['a wide class', 'http.host matches "[\u0001-\uffff]"', 'a class of more'],
        ['a regular expression of many groups', `http.host matches "${'('.repeat(2000)}"`, 'too many groups'],
      ],
      ([, line, reason]) => {
        expect(textOf(line)).toContain(reason);
      },
    ));
});

describe('a ruleset', () => {
  const rule = { expression: 'http.host eq "a.example"', action: 'block', description: 'Block A!', enabled: true };

  test('keeps order, names, descriptions and actions', () => {
    const rules = imported(
      JSON.stringify({
        result: {
          rules: [
            rule,
            { ...rule, action: 'managed_challenge' },
            { ...rule, action: 'challenge', description: 'Über uns' },
            { ...rule, action: 'skip', enabled: false },
            { ...rule, action: 'log', description: '…' },
            {
              ...rule,
              action: 'redirect',
              action_parameters: { from_value: { target_url: { value: 'https://b.example/x' }, status_code: 301 } },
            },
          ],
        },
      }),
    );
    expect(rules.map(({ policy }) => policy && [policy.name, policy.then, policy.mode])).toEqual([
      ['block-a', { action: 'block' }, 'enforce'],
      ['block-a-2', { action: 'challenge' }, 'enforce'],
      ['u-ber-uns', { action: 'challenge', level: 2 }, 'enforce'],
      ['block-a-3', { action: 'allow' }, 'monitor'],
      ['rule-5', { action: 'block' }, 'monitor'],
      ['block-a-4', { action: 'redirect', location: 'https://b.example/x', status: 302 }, 'enforce'],
    ]);
    expect(rules[0]).toMatchObject({ place: 'rule 1', outcome: 'taken', policy: { description: 'Block A!' } });
    expect(rules[3]?.differences.join()).toContain('turned off');
  });

  test('reads older firewall rules', () => {
    const old = { filter: { expression: 'http.host eq "a.example"' }, action: 'js_challenge', paused: true };
    expect(imported(JSON.stringify({ result: [old], success: true }))[0]).toMatchObject({
      policy: { name: 'rule-1', then: { action: 'challenge' }, mode: 'monitor' },
    });
  });

  test('reports what it cannot take', () =>
    expectRows(
      [
        [{ ...rule, action: 'rewrite' }, 'no action like rewrite'],
        [{ ...rule, ratelimit: { period: 10 } }, 'counts requests'],
        [{ action: 'block' }, 'no expression'],
        [7, 'no expression'],
        [
          {
            ...rule,
            action: 'redirect',
            action_parameters: { from_value: { target_url: { value: 'http://b.example' } } },
          },
          'https address',
        ],
        [{ ...rule, action: 'redirect', action_parameters: { from_list: {} } }, 'one fixed address'],
      ],
      ([one, reason]) => {
        const [report] = imported(JSON.stringify([one]));
        expect(report).toMatchObject({ outcome: 'not-expressible', policy: null });
        expect(report?.reason).toContain(reason);
      },
    ));

  test('is refused without rules', () =>
    expectRows(
      [
        ['', 'no expression'],
        ['{"rules": 7}', 'neither'],
        ['[', 'neither'],
        ['[]', 'no rule'],
        ['['.repeat(400_000), 'neither'],
        ['ssl\n'.repeat(1001), '1001 rules'],
        ['x'.repeat(600_000), 'longer than'],
      ],
      ([content, message]) => {
        expect(importCloudflareRules(content, settings)).toMatchObject({
          ok: false,
          error: expect.stringContaining(message),
        });
      },
    ));
});
