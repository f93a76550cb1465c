/**
 * Unchecked bindings and variables in, one complete checked configuration out. Every mistake is one line and all are
 * reported at once, so that an operator fixes a deployment in one go. The compiler forces the result to be complete;
 * nothing else in the edge reads `env`.
 */
import { decodeBase64url } from '../bytes/base64url.ts';
import { isJsonObject, parseJson } from '../bytes/json.ts';
import { failed, ok, type Result } from '../result.ts';

export const logSinks = ['service', 'queue', 'r2', 'analytics-engine', 'http', 'console'] as const;
export type LogSink = (typeof logSinks)[number];

/** Where allowed requests go. */
export type OriginTarget =
  | { kind: 'url'; base: string; resolveOverride: string | null }
  | { kind: 'zone' }
  | { kind: 'binding'; fetcher: Fetcher; base: string | null };

export interface ClientJwtClaims {
  instanceId: string;
  /** Epoch seconds. */
  issuedAt: number;
  expiresAt: number;
}

export type RulesSource =
  | { kind: 'service'; clientJwt: string; claims: ClientJwtClaims }
  | { kind: 'management-api'; apiKey: string; siteKey: string; siteSecret: string };

export interface EdgeEnvironment {
  serviceUrl: string;
  service: Fetcher | null;
  /** `service`: its binding, unless verification has a URL of its own. */
  siteverify: { url: string; service: Fetcher | null };
  origin: OriginTarget;
  /** A binding for an origin that the instance names. No other binding is given out. */
  originBinding: (name: string) => object | null;
  /**
   * Whether a fetch of the requested host reaches the zone's server. Outside the platform it would reach whatever host a
   * visitor names.
   */
  isZoneOpen: boolean;
  signals: { kind: 'cloudflare' } | { kind: 'headers'; secret: string };
  rules: RulesSource;
  failMode: 'open' | 'closed';
  failModeVerify: 'open' | 'closed';
  failModeChallenge: 'local' | 'open' | 'closed';
  pollMs: number;
  maxStaleMs: number;
  sinks: readonly LogSink[];
  kv: KVNamespace | null;
  queue: Queue | null;
  logBucket: R2Bucket | null;
  analytics: AnalyticsEngineDataset | null;
  logUrl: string | null;
  logAuthorization: string | null;
  opsToken: string | null;
  allowTestKeys: boolean;
  /** Replaces the built-in address categories: JSON of `{asn: {"64496": ["vpn"]}, prefixes: {"192.0.2.0/24": ["proxy"]}}`. */
  ipCategories: string | null;
  version: string;
}

/** The only `RULES_SOURCE` of the deployed Worker, and the wrangler file of the Worker for the other one. */
export interface RulesMode {
  rulesSource: RulesSource['kind'];
  otherConfig: string;
}

/** A shorter secret can be guessed; 16 random bytes in base64url are 22 characters. */
const SECRET_MIN_CHARS = 16;
/** Beyond a day, neither polling nor staleness means anything. */
const SECONDS_MAX = 86_400;

/**
 * With this compatibility flag, a fetch of the Worker's own zone goes to the zone's front door and so to this Worker
 * again, and never to the zone's origin.
 */
const FRONT_DOOR_FLAG = 'global_fetch_strictly_public';

/** The error is the list of mistakes, one sentence each. `flags`: compatibility flags that the Worker runs with. */
export function readEdgeEnvironment(
  env: Record<string, unknown>,
  mode: RulesMode,
  flags: Readonly<Record<string, boolean>> = {},
): Result<EdgeEnvironment, string[]> {
  const mistakes: string[] = [];
  const wrong = (line: string): undefined => void mistakes.push(line);
  const text = (name: string): string => (typeof env[name] === 'string' ? env[name].trim() : '');
  const optional = (name: string): string | null => text(name) || null;
  const choice = <T extends string>(name: string, allowed: readonly T[], fallback: T): T => {
    const value = text(name) || fallback;
    if (allowed.includes(value as T)) return value as T;
    wrong(`${name} must be one of ${allowed.join(', ')}`);
    return fallback;
  };
  const seconds = (name: string, fallback: number): number => {
    const value = text(name) === '' ? fallback : Number(text(name));
    if (value > 0 && value <= SECONDS_MAX) return value;
    wrong(`${name} must be a number of seconds above 0, at most ${SECONDS_MAX}`);
    return fallback;
  };
  const url = (name: string): string => {
    const value = text(name).replace(/\/+$/, '');
    if (!/^https?:\/\/[^/?#@\s]+(\/[^?#\s]*)?$/.test(value) || !URL.canParse(value)) {
      wrong(`${name} must be an http(s) address without credentials, query or fragment`);
    }
    return value;
  };
  const binding = (name: string): object | null => {
    const value = env[name];
    return typeof value === 'object' ? value : null;
  };

  const serviceUrl = url('SERVICE_URL');
  const rulesKind = mode.rulesSource;
  if (choice('RULES_SOURCE', ['service', 'management-api'], rulesKind) !== rulesKind) {
    wrong(`RULES_SOURCE must be ${rulesKind} in this Worker; deploy ${mode.otherConfig} for the other one`);
  }
  const signalsKind = choice('SIGNALS_SOURCE', ['cloudflare', 'headers'], 'cloudflare');
  const signalsSecret = text('SIGNALS_SECRET');
  if (signalsKind === 'headers' && signalsSecret.length < SECRET_MIN_CHARS) {
    wrong(`SIGNALS_SECRET must have at least ${SECRET_MIN_CHARS} characters when SIGNALS_SOURCE is headers`);
  }
  const opsToken = optional('OPS_TOKEN');
  if (opsToken !== null && opsToken.length < SECRET_MIN_CHARS) {
    wrong(`OPS_TOKEN must have at least ${SECRET_MIN_CHARS} characters`);
  }

  const sinks = [
    ...new Set(
      (text('LOG_SINKS') || 'service')
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean),
    ),
  ];
  for (const sink of sinks) {
    if (!(logSinks as readonly string[]).includes(sink)) wrong(`LOG_SINKS must name only ${logSinks.join(', ')}`);
  }
  const queue = binding('VERDICT_QUEUE') as Queue | null;
  const logBucket = binding('VERDICT_LOG') as R2Bucket | null;
  const analytics = binding('VERDICT_ANALYTICS') as AnalyticsEngineDataset | null;
  if (sinks.includes('queue') && !queue) wrong('LOG_SINKS names queue, but there is no binding VERDICT_QUEUE');
  if (sinks.includes('r2') && !logBucket) wrong('LOG_SINKS names r2, but there is no binding VERDICT_LOG');
  if (sinks.includes('analytics-engine') && !analytics) {
    wrong('LOG_SINKS names analytics-engine, but there is no binding VERDICT_ANALYTICS');
  }
  const logUrl = sinks.includes('http') ? url('LOG_URL') : null;

  const failMode = choice('FAIL_MODE', ['open', 'closed'], 'open');
  const failModeVerify = choice('FAIL_MODE_VERIFY', ['closed', 'open'], 'closed');
  const failModeChallenge = choice('FAIL_MODE_CHALLENGE', ['local', 'open', 'closed'], 'local');
  const pollMs = seconds('RULES_POLL_SECONDS', 5) * 1000;
  const maxStaleMs = seconds('RULES_MAX_STALE_SECONDS', 30) * 1000;
  const service = binding('SERVICE') as Fetcher | null;
  const siteverify = text('SITEVERIFY_URL')
    ? { url: url('SITEVERIFY_URL'), service: null }
    : { url: `${serviceUrl}/siteverify`, service };
  const rules = rulesKind === 'service' ? readServiceRules() : readManagementRules();
  const origin = readOrigin();
  if (mistakes.length > 0 || !rules || !origin) return failed([...new Set(mistakes)]);
  const isOnPlatform = origin.kind === 'zone' || signalsKind === 'cloudflare';
  const metadata: { id?: string } | null = binding('CF_VERSION_METADATA');
  return ok({
    serviceUrl,
    service,
    siteverify,
    origin,
    originBinding: (name) => (name.startsWith('ORIGIN_') ? binding(name) : null),
    isZoneOpen: isOnPlatform && !flags[FRONT_DOOR_FLAG],
    signals: signalsKind === 'headers' ? { kind: 'headers', secret: signalsSecret } : { kind: 'cloudflare' },
    rules,
    failMode,
    failModeVerify,
    failModeChallenge,
    pollMs,
    maxStaleMs,
    sinks: sinks as LogSink[],
    kv: binding('GATE_KV') as KVNamespace | null,
    queue,
    logBucket,
    analytics,
    logUrl,
    logAuthorization: optional('LOG_AUTHORIZATION'),
    opsToken,
    allowTestKeys: text('ALLOW_TEST_KEYS') === '1',
    ipCategories: optional('IP_CATEGORIES'),
    version: metadata?.id ?? (text('EDGE_VERSION') || 'unversioned'),
  });

  /** An edge that gets its rules from a Gatehouse service has one credential: the client JWT. */
  function readServiceRules(): RulesSource | undefined {
    const clientJwt = text('CLIENT_JWT');
    const claims = readClientJwt(clientJwt);
    if (claims === null) return wrong('CLIENT_JWT must be the JWT that POST /protect/client-jwt/generate issued');
    return { kind: 'service', clientJwt, claims };
  }

  /** An edge that compiles another service's rules has an API key, the site's key and secret, and KV for the result. */
  function readManagementRules(): RulesSource {
    if (sinks.includes('service')) wrong('LOG_SINKS cannot name service when RULES_SOURCE is management-api');
    const [apiKey, siteKey, siteSecret] = [text('API_KEY'), text('SITE_KEY'), text('SITE_SECRET')];
    if (!binding('GATE_KV')) wrong('RULES_SOURCE management-api needs the binding GATE_KV');
    if (!apiKey || !siteKey || !siteSecret) {
      wrong('RULES_SOURCE management-api needs API_KEY, SITE_KEY and SITE_SECRET');
    }
    return { kind: 'management-api', apiKey, siteKey, siteSecret };
  }

  function readOrigin(): OriginTarget | undefined {
    const fetcher = binding('ORIGIN') as Fetcher | null;
    const named = text('ORIGIN_URL');
    if (fetcher) return { kind: 'binding', fetcher, base: named === '' ? null : url('ORIGIN_URL') };
    if (named === 'zone') {
      if (flags[FRONT_DOOR_FLAG]) wrong(`Remove the flag ${FRONT_DOOR_FLAG}: with it ORIGIN_URL cannot be zone`);
      return { kind: 'zone' };
    }
    const base = url('ORIGIN_URL');
    if (!URL.canParse(base)) return undefined;
    return { kind: 'url', base, resolveOverride: optional('ORIGIN_RESOLVE_OVERRIDE') };
  }
}

/** The edge's own claims, unverified. The service verifies them; here they only show age and expiry. */
function readClientJwt(jwt: string): ClientJwtClaims | null {
  const payload = jwt.split('.')[1];
  if (!payload || jwt.length > 4096) return null;
  const claims = parseJson(decodeBase64url(payload));
  if (!isJsonObject(claims)) return null;
  const { sub, iat, exp } = claims;
  if (typeof sub !== 'string' || sub === '' || typeof iat !== 'number' || typeof exp !== 'number') return null;
  return { instanceId: sub, issuedAt: iat, expiresAt: exp };
}
