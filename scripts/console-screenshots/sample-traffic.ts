/** A day of made-up traffic: visitors by the hour, scripts that are challenged, and a crawler that came in the night. */
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { newEventId } from '../../src/logsink/event-id.ts';

/** What an isolate of an edge is called in the records, none of which came from an edge. */
export const SAMPLE_ISOLATE = 'sample';
export const sampleRuleId = 'userAgent:price-crawler';

/** Shorter than a day, so that all of it is in the overview. */
const SPAN_MS = 23.5 * 3_600_000;
const REQUESTS = 4000;
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:148.0) Gecko/20100101 Firefox/148.0';
const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 19_1 like Mac OS X) AppleWebKit/605.1.15 Version/19.1 Mobile/15E148 Safari/604.1';

export const sampleRules = [
  { type: 'userAgent', value: 'price-crawler', verdict: 'block', note: 'Copies the price list every night' },
  { type: 'ipMask', value: '198.51.100.0/24', verdict: 'challenge', note: 'Hosting network of the crawler' },
  { type: 'ipMask', value: '66.249.64.0/19', verdict: 'allow', note: 'Googlebot' },
  { type: 'asn', value: '64511', verdict: 'block', mode: 'monitor', note: 'Watch for a week first' },
  { type: 'countryCode', value: 'AQ', verdict: 'challenge', rollout: 20 },
];

type Kind = Pick<
  VerdictRecord,
  'user_agent' | 'country' | 'asn' | 'decision' | 'source' | 'decided_by' | 'fired_rules' | 'inputs' | 'risk_score'
> & { ip: string };

const visitor = (user_agent: string, country: string, asn: number, ip: string): Kind => ({
  user_agent,
  country,
  asn,
  ip,
  decision: 'allow',
  source: 'default',
  decided_by: 'default',
  fired_rules: [],
  inputs: {},
  risk_score: 0.1,
});

const visitors = [
  visitor(CHROME, 'DE', 3320, '192.0.2.10'),
  visitor(CHROME, 'US', 7922, '192.0.2.80'),
  visitor(SAFARI, 'FR', 3215, '192.0.2.140'),
  visitor(FIREFOX, 'NL', 1136, '192.0.2.200'),
  visitor(SAFARI, 'DE', 3209, '192.0.2.220'),
];

const script: Kind = {
  ...visitor('python-requests/2.33', 'US', 64_500, '203.0.113.7'),
  decision: 'challenge',
  source: 'risk',
  decided_by: 'risk:challenge',
  fired_rules: [{ id: 'risk:automation-user-agent', verdict: 'challenge', mode: 'enforce' }],
  inputs: { risk: { verdict: 'challenge' } },
  risk_score: 0.8,
};

const crawler: Kind = {
  ...visitor('price-crawler/2.1', 'SG', 64_496, '198.51.100.23'),
  decision: 'block',
  source: 'access-rule',
  decided_by: sampleRuleId,
  fired_rules: [{ id: sampleRuleId, verdict: 'block', mode: 'enforce' }],
  inputs: { client: { verdict: 'block', id: sampleRuleId }, risk: { verdict: 'challenge' } },
  risk_score: 0.6,
};

const paths = ['/', '/pricing', '/products/7', '/products/12', '/login', '/search', '/blog/opening'];

export function dayOfTraffic(of: { instanceId: string; siteKey: string }, nowMs: number): VerdictRecord[] {
  return Array.from({ length: REQUESTS }, (_, seq) => {
    // More by day than by night, and a crawler that came for one hour.
    const share = seq / REQUESTS;
    const agoMs = SPAN_MS * (1 - (share + Math.sin(share * 2 * Math.PI) * 0.08));
    const isCrawl = share > 0.25 && share < 0.36;
    const kind = isCrawl && seq % 3 > 0 ? crawler : seq % 11 === 0 ? script : visitors[(seq * 7) % visitors.length]!;
    return recordOf(of, kind, Math.min(Math.round(nowMs - agoMs), nowMs - 1), seq);
  });
}

/** Most responses come at once, some after a look into a database, and few are late; slower when there is more to do. */
function originMs(seq: number): number {
  const share = seq / REQUESTS;
  const load = 1 + 0.7 * Math.sin(share * Math.PI) + 0.2 * Math.sin(share * 40);
  const luck = ((seq * 7919) % 1000) / 1000;
  return Math.round(load * (luck > 0.98 ? 260 + 90 * luck : luck > 0.9 ? 110 : 12 + 30 * luck));
}

function recordOf(
  { instanceId, siteKey }: { instanceId: string; siteKey: string },
  kind: Kind,
  timestamp: number,
  seq: number,
): VerdictRecord {
  const id = newEventId(timestamp);
  const status = { allow: 200, challenge: 401, block: 403 }[kind.decision];
  return {
    v: 1,
    id,
    request_id: id,
    timestamp,
    instance_id: instanceId,
    site_key: siteKey,
    jti: null,
    ip_category: [],
    ja4: null,
    device_type: kind.user_agent === SAFARI ? 'mobile' : 'desktop',
    method: 'GET',
    host: 'www.shop.example',
    request_path: paths[(seq * 5) % paths.length]!,
    path_type: 'html',
    enforcement_policy: 'enforce',
    session_status: kind.decision === 'allow' ? 'active' : 'none',
    verified: null,
    level: null,
    status,
    origin_ms: kind.decision === 'allow' ? originMs(seq) : null,
    ruleset_version: 1,
    edge: { colo: 'FRA', version: '0.1.0', isolate: SAMPLE_ISOLATE, seq },
    ...kind,
  };
}
