/**
 * The environment of the service, checked once. Unchecked bindings and variables go in; one complete configuration
 * comes out. Each mistake is one line, and all are reported together, so that an operator can fix a deployment in one
 * go. Nothing else in the service reads a binding or a variable by its raw name.
 */
import { decodeBase64url } from '../bytes/base64url.ts';
import { type AddressLookup, readAddressFacts } from '../captcha/verify/address-facts.ts';
import { failed, ok, type Result } from '../result.ts';
import { shardEpochs } from '../store/event-log/client/shards.ts';
import { consolePlace, readAccess, readOidc, type SignInSettings } from './sign-in-variables.ts';
import { type OutboundSettings, readOutbound } from './outbound-variables.ts';

/** Bindings and secrets under the names that the functions of `src/store` take. */
export type ServiceStore = Omit<ServiceEnv, 'SERVICE_URL' | 'SIGNALS_SOURCE' | 'ASSETS'> & {
  MASTER_KEY_PREVIOUS?: string;
  /** Where copies of the published networks of bots are, under `/host/path`. */
  BOT_RANGES_BASE?: string;
};

/** Where the address of a visitor comes from: Cloudflare, or the headers of a proxy that knows the secret. */
export type SignalsSource = { kind: 'cloudflare' } | { kind: 'headers'; secret: string };

export interface ServiceEnvironment {
  /** Public address of this Worker, without a trailing slash. The issuer of every JWT it signs. */
  serviceUrl: string;
  signals: SignalsSource;
  /** The operator's own facts about addresses; `null` where there are none. */
  addressLookup: AddressLookup | null;
  /** How directories of agents and names of addresses are reached. */
  outbound: OutboundSettings;
  /** The ways into the console. One-time links and passkeys need no settings. */
  signIn: SignInSettings;
  /** The files of the documentation; `null` in a deployment without them. */
  assets: Pick<Fetcher, 'fetch'> | null;
  store: ServiceStore;
}

const bindings = {
  DB: 'a D1 database',
  RULESETS: 'an R2 bucket',
  SEGMENTS: 'an R2 bucket',
  RULE_BOOK: 'a Durable Object namespace',
  VERDICT_SHARD: 'a Durable Object namespace',
  SPEND_LEDGER: 'a Durable Object namespace',
  RISK_BOOK: 'a Durable Object namespace',
  LIMIT_LEDGER: 'a Durable Object namespace',
  ATTACK_WATCH: 'a Durable Object namespace',
} as const;

const MASTER_KEY_BYTES = 32;
/** A shorter secret can be guessed. 16 random bytes are 22 characters of base64url. */
const SECRET_MIN_CHARS = 16;

/** @returns the configuration, or every mistake in it. No mistake repeats a secret. */
export function readServiceEnvironment(env: Readonly<Record<string, unknown>>): Result<ServiceEnvironment, string[]> {
  const mistakes: string[] = [];
  const text = (name: string): string => (typeof env[name] === 'string' ? env[name].trim() : '');
  const choice = <T extends string>(name: string, allowed: readonly T[], fallback: T): T => {
    const value = allowed.find((one) => one === (text(name) || fallback));
    if (value === undefined) mistakes.push(`${name} must be one of ${allowed.join(', ')}`);
    return value ?? fallback;
  };
  const binding = <Name extends keyof typeof bindings>(name: Name): ServiceEnv[Name] => {
    const value = env[name];
    if (typeof value !== 'object' || value === null) mistakes.push(`${name} must be bound to ${bindings[name]}`);
    return value as ServiceEnv[Name];
  };
  /** Not trimmed: the Durable Objects read the same variable as it is. */
  const masterKey = (name: string): string => {
    const value = typeof env[name] === 'string' ? env[name] : '';
    if (decodeBase64url(value)?.length !== MASTER_KEY_BYTES) {
      mistakes.push(`${name} must be ${MASTER_KEY_BYTES} random bytes in base64url without padding`);
    }
    return value;
  };

  const serviceUrl = text('SERVICE_URL');
  if (!isServiceUrl(serviceUrl)) {
    mistakes.push(
      'SERVICE_URL must be an http(s) address without a trailing slash, and without credentials, query or fragment',
    );
  }
  const signalsKind = choice('SIGNALS_SOURCE', ['cloudflare', 'headers'], 'cloudflare');
  const signalsSecret = text('SIGNALS_SECRET');
  if (signalsKind === 'headers' && signalsSecret.length < SECRET_MIN_CHARS) {
    mistakes.push(`SIGNALS_SECRET must have at least ${SECRET_MIN_CHARS} characters when SIGNALS_SOURCE is headers`);
  }
  const epochs = shardEpochs(text('VERDICT_SHARDS') || '1');
  if (!epochs.ok) mistakes.push(epochs.error);
  const addressLookup = readAddressFacts(text('ADDRESS_FACTS') || null);
  if (!addressLookup.ok) mistakes.push(addressLookup.error);
  const rangesBase = text('BOT_RANGES_BASE');
  if (rangesBase !== '' && !isServiceUrl(rangesBase)) {
    mistakes.push(
      'BOT_RANGES_BASE must be an http(s) address without a trailing slash, credentials, query or fragment',
    );
  }
  const oidc = readOidc(text('OIDC_ISSUER'), text('OIDC_CLIENT_ID'), text('OIDC_CLIENT_SECRET'));
  if (!oidc.ok) mistakes.push(oidc.error);
  const access = readAccess(text('ACCESS_TEAM_DOMAIN'), text('ACCESS_AUD'));
  if (!access.ok) mistakes.push(access.error);
  const outbound = readOutbound({
    resolver: text('DNS_RESOLVER_URL'),
    standIns: text('BOT_STAND_INS'),
    loopback: text('LOOPBACK_HOSTS'),
    serviceUrl,
  });
  if (!outbound.ok) mistakes.push(outbound.error);

  const store: ServiceStore = {
    DB: binding('DB'),
    RULESETS: binding('RULESETS'),
    SEGMENTS: binding('SEGMENTS'),
    RULE_BOOK: binding('RULE_BOOK'),
    VERDICT_SHARD: binding('VERDICT_SHARD'),
    SPEND_LEDGER: binding('SPEND_LEDGER'),
    RISK_BOOK: binding('RISK_BOOK'),
    LIMIT_LEDGER: binding('LIMIT_LEDGER'),
    ATTACK_WATCH: binding('ATTACK_WATCH'),
    MASTER_KEY: masterKey('MASTER_KEY'),
    ...(text('MASTER_KEY_PREVIOUS') === '' ? {} : { MASTER_KEY_PREVIOUS: masterKey('MASTER_KEY_PREVIOUS') }),
    JURISDICTION: choice('JURISDICTION', ['eu', 'us', 'none'], 'none'),
    VERDICT_SHARDS: text('VERDICT_SHARDS') || '1',
    ...(rangesBase === '' ? {} : { BOT_RANGES_BASE: rangesBase }),
  };
  if (mistakes.length > 0 || !addressLookup.ok || !oidc.ok || !access.ok || !outbound.ok) return failed(mistakes);
  return ok({
    serviceUrl,
    signals: signalsKind === 'headers' ? { kind: 'headers', secret: signalsSecret } : { kind: 'cloudflare' },
    addressLookup: addressLookup.value,
    outbound: outbound.value,
    signIn: { console: consolePlace(serviceUrl), oidc: oidc.value, access: access.value },
    assets: typeof env['ASSETS'] === 'object' ? (env['ASSETS'] as Fetcher | null) : null,
    store,
  });
}

function isServiceUrl(text: string): boolean {
  return /^https?:\/\/[^/?#@\s]+(\/[^?#\s]*)?$/.test(text) && !text.endsWith('/') && URL.canParse(text);
}

const readings = new WeakMap<object, Result<ServiceEnvironment, string[]>>();

/** The checked environment of this isolate. Mistakes are logged when they are first found. */
export function environmentOf(env: ServiceEnv): Result<ServiceEnvironment, string[]> {
  const kept = readings.get(env);
  if (kept !== undefined) return kept;
  const reading = readServiceEnvironment(env as unknown as Record<string, unknown>);
  readings.set(env, reading);
  if (!reading.ok) {
    for (const mistake of reading.error) console.error(JSON.stringify({ event: 'environment-mistake', mistake }));
  }
  return reading;
}

/** @throws with every mistake. For the scheduled run and the queue, which have no caller to respond to. */
export function checkedEnvironment(env: ServiceEnv): ServiceEnvironment {
  const reading = environmentOf(env);
  if (reading.ok) return reading.value;
  throw new Error(`The service is not configured: ${reading.error.join('; ')}`);
}
