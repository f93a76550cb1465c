/** A compiled config, signals, facts and a context for the edge's unit tests. */
import { compileConfig, type CompiledConfig } from '../../../src/edge/config/compiled-config.ts';
import { type EdgeConfig, type SiteDemand, unknownSite } from '../../../src/contract/edge/edge-responses.ts';
import { configFormats } from '../../../src/contract/edge/formats.ts';
import { riskDetectors } from '../../../src/contract/edge/risk-detectors.ts';
import { sessionWeight } from '../../../src/risk/detectors.ts';
import type { VerdictRecord } from '../../../src/contract/edge/verdict-record.ts';
import { writtenPolicy } from '../../../src/contract/management/instance-settings.ts';
import { type JudgedContext, unjudged } from '../../../src/edge/decide/context.ts';
import type { Verdict } from '../../../src/decide/verdict.ts';
import { readFacts, type RequestFacts } from '../../../src/edge/request/facts.ts';
import { readHeaders } from '../../../src/edge/request/header-facts.ts';
import { recordOf } from '../../../src/edge/step/record.ts';
import type { Signals } from '../../../src/edge/request/signals.ts';
import { explainRecord } from '../../../src/rules/explain.ts';

export const NOW_MS = 1_800_000_000_000;

/** A clearance whose visitor solved a proof of work. */
export const solvedClearance = {
  jti: 'c',
  level: 1,
  kind: 'pow',
  powDifficulty: 4,
  eased: false,
  isAged: false,
  learned: null,
} as const;
/** A clearance whose visitor waited for it, as the edge reads it. */
export const waitedClearance = { ...solvedClearance, level: 0, powDifficulty: 0, issuedAtMs: 0, sinceMs: 0 } as const;
const key = (fill: number) => Buffer.alloc(32, fill).toString('base64url');
const keySet = (kid: string, fill: number) => ({
  kid,
  clearance: key(fill),
  session: key(fill + 1),
  seal: key(fill + 2),
  originSignature: key(fill + 3),
});

export function edgeConfigOf(policy: object = {}, changes: Partial<EdgeConfig> = {}): EdgeConfig {
  return {
    format: configFormats[0],
    configVersion: 'c1',
    instanceId: 'inst_1',
    policy: writtenPolicy.parse(policy),
    siteKey: 'site_1',
    secretKey: 'secret_1',
    site: unknownSite,
    keys: { current: keySet('k2', 10), previous: keySet('k1', 1) },
    rulesetKeys: [{ kid: 'r1', publicKey: key(9) }],
    pageStyle: '',
    detectors: [...riskDetectors],
    detectorWeights: riskDetectors.map(sessionWeight),
    pendingExempt: [],
    takesInputs: true,
    raisedJtis: [],
    ...changes,
  };
}

export function configOf(policy: object = {}, changes: Partial<EdgeConfig> = {}): Promise<CompiledConfig> {
  return compileConfig(edgeConfigOf(policy, changes));
}

export function signalsOf(changes: Partial<Signals> = {}): Signals {
  return {
    ip: '192.0.2.1',
    asn: 64_496,
    countryCode: 'DE',
    ja4: null,
    userAgent: 'Mozilla/5.0',
    rolloutBucket: 0,
    deviceType: 'desktop',
    ipCategories: [],
    colo: 'local',
    isAddressUnread: false,
    ...changes,
  };
}

export function factsOf(path = '/', changes: Partial<RequestFacts> = {}): RequestFacts {
  const url = `https://site.test${path}`;
  const facts = readFacts(new Request(url), NOW_MS, {
    environment: { signals: { kind: 'cloudflare' } },
    categories: { of: () => [] },
  });
  const headers = changes.request ? readHeaders(changes.request, facts.headers.secure) : facts.headers;
  return { ...facts, headers, signals: signalsOf(), ...changes };
}

export interface ContextChanges extends Partial<Omit<JudgedContext, 'facts'>> {
  facts?: Partial<RequestFacts>;
  /** What differs from a site whose settings are not known. */
  site?: Partial<SiteDemand>;
}

/** The context of a GET that is decided. `facts` and `changes` replace parts of it. */
export async function contextOf(
  path: string,
  policy: object = {},
  { facts = {}, site = {}, ...changes }: ContextChanges = {},
): Promise<JudgedContext> {
  const config = await configOf(policy, { site: { ...unknownSite, ...site } });
  const read = factsOf(path, facts);
  return {
    ...unjudged(read),
    isJudged: true,
    limits: null,
    config,
    path: config.pathPolicy(read.target, read.request.method),
    ...changes,
  };
}

const edge = { instanceId: 'inst_1', version: '0.1.0', isolate: 'isolate-1', seq: 0 };

/** The record that a request with this verdict leaves. */
export function recordOfVerdict(verdict: Verdict, takesInputs = true): VerdictRecord {
  const config = { siteKey: 'site_1', takesInputs } as CompiledConfig;
  const context = { ...unjudged(factsOf(), { rulesetVersion: 7, verdict }), config };
  const step = { kind: 'answer', context, answer: { kind: 'block' }, tokenVerified: null } as const;
  return recordOf({ step, response: new Response(null, { status: 200 }), originMs: null }, edge);
}

/** What a reader of that record gets to read. */
export function sentenceOf(verdict: Verdict): string {
  return explainRecord(recordOfVerdict(verdict));
}
