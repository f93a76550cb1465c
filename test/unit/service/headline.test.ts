/** The headline of a verdict is for a person: whole sentences, and none of the log's ids. */
import { expect, test } from 'vitest';
import type { RecordInputs, VerdictRecord } from '../../../src/contract/edge/verdict-record.ts';
import { headline, reasonOf, ruleName } from '../../../src/service/operations/protect/verdicts/headline.ts';
import { expectRows } from '../../support/rows.ts';
import { verdictRecordOf } from '../../support/verdict-record.ts';

function said(inputs: RecordInputs | undefined, given: Partial<VerdictRecord> = {}): string {
  return headline(verdictRecordOf('instance-1', { timestamp: 0, inputs, ...given }));
}

const risk = (name: string) => ({ id: `risk:${name}`, verdict: 'challenge', mode: 'enforce' }) as const;
const bot = { id: 'googlebot', behaviours: ['search' as const], proof: 'claimed' as const };
const challenged = { decision: 'challenge', source: 'policy' } as const;

test('each input has a sentence', () =>
  expectRows<[RecordInputs, Partial<VerdictRecord>, string]>(
    [
      [{}, {}, 'Allowed, because nothing speaks against it.'],
      [
        { network: { verdict: 'block', id: 'ipMask:192.0.2.0/24', type: 'ipMask' } },
        { decision: 'block', source: 'access-rule' },
        'Blocked, because an access rule is for the network 192.0.2.0/24. No challenge lifts it.',
      ],
      [
        { network: { verdict: 'block', id: 'list:drop', type: 'ipMask' } },
        { decision: 'block', source: 'access-rule' },
        'Blocked, because the list “drop” has the visitor’s address or network. No challenge lifts it.',
      ],
      [
        { client: { verdict: 'challenge', id: 'userAgent:curl' } },
        { decision: 'challenge', source: 'access-rule' },
        'Challenged, because an access rule is for user agents with curl. A solved challenge lets the visitor through.',
      ],
      [
        { bot: { verdict: 'block' } },
        { decision: 'block', source: 'bot', bot },
        'Blocked, because the bot policy says so of googlebot, whose name is only claimed so far. No challenge lifts it.',
      ],
      [
        { category: { verdict: 'challenge', category: 'tor' } },
        { decision: 'challenge', source: 'ip-category' },
        'Challenged, because the instance has an answer for addresses of the category “tor”. A solved challenge lets the visitor through.',
      ],
      [
        { risk: { verdict: 'challenge' } },
        { decision: 'challenge', source: 'risk', risk_score: 0.7, fired_rules: [risk('burst'), risk('webdriver')] },
        'Challenged, because its risk is 70 of 100: the browser sets navigator.webdriver; the session made at least 300 requests in a minute. A solved challenge lets the visitor through.',
      ],
      [
        { limit: { verdict: 'block', name: 'login' } },
        { decision: 'block', source: 'limit' },
        'Blocked, because it is above the limit “login”. No challenge lifts it.',
      ],
      [
        { policy: { verdict: 'challenge', reason: 'pendingBudget' } },
        challenged,
        'Challenged, because its network has asked for many pages without opening a session, and its budget for these is used up. A solved challenge lets the visitor through.',
      ],
      [
        { policy: { verdict: 'allow', reason: 'onPending' } },
        { source: 'bootstrap-passthrough' },
        'Allowed: a page without a session, whose script opens one.',
      ],
      [
        { policy: { verdict: 'block', reason: 'path:/admin/*' } },
        { decision: 'block', source: 'policy' },
        'Blocked by the path rule /admin/*. No challenge lifts it.',
      ],
      [
        { policy: { verdict: 'challenge', reason: 'no-curl' } },
        challenged,
        'Challenged by the policy “no-curl”. A solved challenge lets the visitor through.',
      ],
      [
        { policy: { verdict: 'allow', reason: 'moved' } },
        { source: 'policy', status: 302, origin_ms: null },
        'Redirected by the policy “moved”.',
      ],
      [
        { policy: { verdict: 'allow', reason: 'partners' } },
        { source: 'policy', status: 302 },
        'Allowed by the policy “partners”.',
      ],
    ],
    ([inputs, given, sentence]) => {
      expect(said(inputs, given)).toBe(sentence);
    },
  ));

test('what lifted a challenge is named, with what would have challenged, and what stood for a session', () => {
  const inputs = { policy: { verdict: 'challenge', reason: 'no-curl' } } as const;
  expect(said(inputs, { source: 'clearance', level: 1 })).toBe(
    'Allowed: the visitor has solved a challenge before, and that clearance lifted this one. Without it: challenged by the policy “no-curl”.',
  );
  expect(said({}, { source: 'clearance', level: 1 })).toBe(
    'Allowed: the visitor has solved a challenge before, and that clearance stands for a session here.',
  );
  expect(said(undefined, { source: 'internal' })).toBe('Allowed: it is one of the gate’s own addresses.');
  expect(said({}, { source: 'no-session', decision: 'challenge' })).toMatch(
    /^Challenged, because this path is for pages/,
  );
});

test('a failure policy says what failed, and a long name is cut', () => {
  const explain = 'FAIL_MODE closed: no ruleset was ever loaded.';
  expect(said(undefined, { source: 'error', decision: 'block', explain })).toBe(explain);
  const long = said({ client: { verdict: 'block', id: `userAgent:${'x'.repeat(300)}` } }, { decision: 'block' });
  expect(long).toMatch(/^Blocked, because an access rule is for user agents with x{99}…\./);
});

test('the reason alone is short, and a part of the headline', () =>
  expectRows<[RecordInputs | undefined, Partial<VerdictRecord>, string]>(
    [
      [
        { network: { verdict: 'block', id: 'ipMask:192.0.2.0/24', type: 'ipMask' } },
        { decision: 'block', source: 'access-rule' },
        'An access rule is for the network 192.0.2.0/24',
      ],
      [
        { risk: { verdict: 'challenge' } },
        { decision: 'challenge', source: 'risk', risk_score: 0.7, fired_rules: [risk('burst')] },
        'Its risk is 70 of 100',
      ],
      [{ policy: { verdict: 'challenge', reason: 'no-curl' } }, challenged, 'The policy “no-curl”'],
      [{ policy: { verdict: 'block', reason: 'path:/admin/*' } }, { source: 'policy' }, 'The path rule /admin/*'],
      [{}, { source: 'exempt' }, 'This path is never challenged'],
      [{}, {}, 'Nothing speaks against it'],
      [undefined, { source: 'error', explain: 'FAIL_MODE closed.' }, 'FAIL_MODE closed.'],
    ],
    ([inputs, given, reason]) => {
      const record = verdictRecordOf('instance-1', { timestamp: 0, inputs, ...given });
      expect(reasonOf(record)).toBe(reason);
      expect(headline(record).toLowerCase()).toContain(reason.toLowerCase());
    },
  ));

test('a rule that fired has a name in the words of the headline', () =>
  expectRows(
    [
      ['asn:64496', 'An access rule is for the AS number 64496'],
      ['list:drop', 'The list “drop” has the visitor’s address or network'],
      ['policy:pendingBudget', 'Its network has asked for many pages without opening a session'],
      ['policy:path:/admin/*', 'The path rule /admin/*'],
      ['policy:no-curl', 'The policy “no-curl”'],
      ['limit:login', 'It is above the limit “login”'],
      ['risk:webdriver', 'The browser sets navigator.webdriver'],
      ['risk:of-another-version', 'The rule risk:of-another-version says so'],
    ] as const,
    ([id, name]) => expect(ruleName(id)).toBe(name),
  ));
