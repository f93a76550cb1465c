/**
 * Made-up traffic for benchmarks of the verdict log: a hundred sessions at a time, ten requests each, from 20,000 addresses in
 * 2,000 networks, with 2,000 user agents. Half of the requests go to 500 paths, the others to 20,000.
 */
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { newEventId } from '../../src/logsink/event-id.ts';

export const INSTANCE_ID = 'bench';

/** Records `first` to `first + rows - 1` of `total`, with even times from `since` to `until`. */
export interface RecordSpan {
  first: number;
  rows: number;
  total: number;
  /** Epoch milliseconds. */
  since: number;
  until: number;
  /** Whose requests these are; an instance that only the bench knows by default. */
  of?: { instance_id: string; site_key: string };
}

/** Sessions that are open at once, each with ten requests. */
const SESSIONS_OPEN = 100;
const SESSION_REQUESTS = 10;

const countries = ['DE', 'FR', 'US', 'BR', 'IN', 'GB', 'PL', 'JP'] as const;
const sources = ['access-rule', 'risk', 'policy', 'clearance', 'ip-category'] as const;

export function* madeRecords({ first, rows, total, since, until, of }: RecordSpan): Generator<VerdictRecord> {
  for (let number = first; number < first + rows; number++) {
    yield { ...madeRecord(number, Math.floor(since + ((until - since) * number) / total)), ...of };
  }
}

export function madeRecord(number: number, timestamp: number): VerdictRecord {
  const wave = SESSIONS_OPEN * SESSION_REQUESTS;
  const visitor = Math.floor(number / wave) * SESSIONS_OPEN + (number % SESSIONS_OPEN);
  const mixed = mix(visitor);
  const chance = mix(number ^ 0x5bd1e995);
  const decision = chance % 20 === 0 ? 'block' : chance % 10 === 1 ? 'challenge' : 'allow';
  const source = decision === 'allow' ? 'default' : (sources[mixed % sources.length] ?? 'default');
  const asn = 64_496 + (mixed % 2000);
  const id = newEventId(timestamp);
  return {
    v: 1,
    id,
    request_id: id,
    timestamp,
    instance_id: INSTANCE_ID,
    site_key: 'site-bench',
    jti: `session-${visitor.toString(36)}-${mixed.toString(36)}`,
    ip: `10.${mixed % 20}.${(mixed >>> 8) % 100}.${(mixed >>> 16) % 10}`,
    ip_category: mixed % 13 === 0 ? ['datacenter'] : [],
    country: countries[mixed % countries.length] ?? null,
    asn,
    ja4: `t13d1516h2_8daaf6152771_${(mixed % 150).toString(16).padStart(12, '0')}`,
    user_agent: `Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${mixed % 2000}.0 Safari/537.36`,
    bot: null,
    device_type: mixed % 3 === 0 ? 'mobile' : 'desktop',
    method: 'GET',
    host: 'shop.example',
    request_path: chance % 2 === 0 ? `/shop/products/${chance % 500}` : `/shop/items/${chance % 20_000}`,
    path_type: 'html',
    decision,
    source,
    decided_by: decision === 'allow' ? 'default' : `asn:${asn}`,
    fired_rules: decision === 'allow' ? [] : [{ id: `asn:${asn}`, verdict: decision, mode: 'enforce' }],
    inputs: decision === 'allow' ? {} : { network: { verdict: decision, id: `asn:${asn}`, type: 'asn' } },
    enforcement_policy: 'enforce',
    session_status: 'active',
    verified: null,
    level: null,
    risk_score: (mixed % 100) / 100,
    status: decision === 'allow' ? 200 : 403,
    origin_ms: 17,
    ruleset_version: 12,
    edge: { colo: 'FRA', version: '0.1.0', isolate: 'isolate-bench', seq: number },
  };
}

function mix(number: number): number {
  const first = Math.imul(number ^ 0x9e3779b9, 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}
