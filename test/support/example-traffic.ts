/**
 * Some traffic for the examples of commands: people, one of them with many log-ins, a scraper that is challenged, and a
 * bot that is blocked.
 */
import type { Stack } from '../../src/cli/stack.ts';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { newEventId } from '../../src/logsink/event-id.ts';
import { decide, type DecideInputs } from '../../src/rules/decision-table.ts';
import { recordInputsOf } from '../../src/rules/record-inputs.ts';
import { verdictRecordOf } from './verdict-record.ts';

const RECORDS = 40;
const RULESET_VERSION = 1;
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0';

interface Kind {
  facts: Partial<VerdictRecord>;
  inputs: Partial<DecideInputs>;
}

const badbot = { id: 'userAgent:badbot', type: 'userAgent', verdict: 'block', mode: 'enforce' } as const;
const automation = { id: 'risk:automation-user-agent', verdict: 'challenge', mode: 'enforce' } as const;
const noLanguage = { id: 'risk:no-accept-language', verdict: 'challenge', mode: 'enforce' } as const;
const noSession = { jti: null, session_status: 'none', risk_score: 0.7, device_type: 'bot' } as const;
const risk = { verdict: 'challenge', score: 0.7 } as const;

const kinds: readonly Kind[] = [
  {
    facts: { ip: '198.51.100.23', asn: 64_496, country: 'DE', request_path: '/', user_agent: BROWSER },
    inputs: {},
  },
  {
    facts: {
      ...noSession,
      ip: '203.0.113.9',
      asn: 64_500,
      country: 'US',
      request_path: '/login',
      user_agent: 'badbot/1.2',
      fired_rules: [{ id: badbot.id, verdict: 'block', mode: 'enforce' }, automation, noLanguage],
      status: 403,
      source: 'access-rule',
    },
    inputs: { client: badbot, risk },
  },
  {
    facts: {
      ...noSession,
      ip: '192.0.2.77',
      asn: 64_499,
      country: 'FR',
      request_path: '/products',
      user_agent: 'python-requests/2.32.5',
      fired_rules: [automation, noLanguage],
      status: 403,
      source: 'risk',
    },
    inputs: { risk },
  },
  {
    facts: { ip: '192.0.2.140', asn: 64_497, country: 'NL', request_path: '/login', user_agent: BROWSER },
    inputs: {},
  },
];

/** A request a second from this time on. What decided each, and why, is what the decision table says of its inputs. */
export function exampleTraffic({ siteKey, instanceId }: Stack, startMs: number): VerdictRecord[] {
  return Array.from({ length: RECORDS }, (_, at) => {
    const timestamp = startMs + at * 1000;
    // An edge uses one id for the request and its verdict.
    const id = newEventId(timestamp);
    const own = { id, request_id: id, timestamp, site_key: siteKey, host: 'www.example.com' };
    return verdictRecordOf(instanceId, { ...own, ...decided(kinds[at % kinds.length]!) });
  });
}

function decided({ facts, inputs: some }: Kind): Partial<VerdictRecord> {
  const none = { network: null, client: null, bot: null, category: null, risk: null, limit: null, policy: null };
  const inputs: DecideInputs = { ...none, ...some };
  const outcome = decide(inputs);
  return {
    ...facts,
    decision: outcome.decision,
    decided_by: outcome.decidedBy,
    inputs: recordInputsOf(inputs),
    ruleset_version: RULESET_VERSION,
  };
}
