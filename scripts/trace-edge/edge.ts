/**
 * An isolate of the edge in Node: the platform's globals, its bindings, an origin, and a service in memory that has a
 * config, signed rules and a table of bots. Import `calls.ts` first, so that the edge's functions report their calls.
 */
import { encodeBase64url } from '../../src/bytes/base64url.ts';
import { encodeBotTable } from '../../src/bots/encode-bot-table.ts';
import { configFormats } from '../../src/contract/edge/formats.ts';
import {
  type EdgeConfig,
  type EdgeKeySet,
  type EdgeVersion,
  unknownSite,
} from '../../src/contract/edge/edge-responses.ts';
import { riskDetectors } from '../../src/contract/edge/risk-detectors.ts';
import { writtenPolicy } from '../../src/contract/management/instance-settings.ts';
import { sessionWeight } from '../../src/risk/detectors.ts';
import { RulesetCompiler } from '../../src/rules/compiler.ts';
import { signRulesetFile } from '../../src/rules/signing.ts';

export const SITE = 'https://shop.example';
export const INSTANCE = 'inst_1';
/** Addresses with a rule of their own. */
export const BLOCKED_IP = '192.0.2.66';
export const CHALLENGED_IP = '192.0.2.77';

/** The clock stands still: how fast the machine is must not change what the edge does. */
export const NOW_MS = Date.UTC(2027, 0, 1);

const SERVICE = 'https://service.example';
const ORIGIN = 'https://origin.example';
const KID = 'k1';
const ANSWER_OF_ORIGIN = '<!doctype html><title>Shop</title><p>Welcome';

const key = (fill: number): string => encodeBase64url(new Uint8Array(32).fill(fill));
export const keys: EdgeKeySet = {
  kid: KID,
  clearance: key(1),
  session: key(2),
  seal: key(3),
  originSignature: key(4),
};

interface EdgeWorker {
  fetch(request: Request, env: object, ctx: object): Promise<Response> | Response;
}

export interface Visit {
  method?: string;
  headers: Record<string, string>;
  body?: BodyInit;
}

export interface Edge {
  /** Sends a request of a visitor with this address. */
  fetch: (path: string, ip: string, visit: Visit) => Promise<Response>;
  /** Waits for what the isolate still does behind its responses. */
  settled: () => Promise<unknown>;
}

/** A new isolate without rules: its first request waits for them. */
export async function startEdge(): Promise<Edge> {
  const answers = await answersOfService();
  const service = (request: Request): Response => {
    const answer = answers.get(new URL(request.url).pathname);
    if (answer === undefined) return new Response(null, { status: 404 });
    return answer instanceof Uint8Array ? new Response(new Uint8Array(answer)) : Response.json(answer);
  };
  const nothing = { match: async () => undefined, put: async () => {} };
  Date.now = () => NOW_MS;
  Object.assign(globalThis, {
    Cloudflare: { compatibilityFlags: {} },
    caches: { open: async () => nothing },
    fetch: async () => new Response(ANSWER_OF_ORIGIN, { headers: { 'content-type': 'text/html' } }),
  });
  const claims = encodeBase64url(new TextEncoder().encode(JSON.stringify({ sub: INSTANCE, iat: 0, exp: 1e10 })));
  const env = {
    SERVICE_URL: SERVICE,
    ORIGIN_URL: ORIGIN,
    CLIENT_JWT: `head.${claims}.signature`,
    SERVICE: { fetch: async (request: Request) => service(request) },
    GATE_KV: { get: async () => null, put: async () => {} },
  };
  // By its address, because the types of the edge are those of another platform.
  const entry = new URL('../../src/edge/index.ts', import.meta.url).href;
  const { default: worker } = (await import(entry)) as { default: EdgeWorker };
  const background: Promise<unknown>[] = [];
  const ctx = { waitUntil: (work: Promise<unknown>) => void background.push(work) };
  return {
    async fetch(path, ip, { headers, ...visit }) {
      const request = new Request(SITE + path, { ...visit, headers: { ...headers, 'cf-connecting-ip': ip } });
      Object.assign(request, { cf: { colo: 'FRA', asn: 64_496, country: 'DE' } });
      return worker.fetch(request, env, ctx);
    },
    settled: () => Promise.all(background),
  };
}

/** By path: JSON or the bytes of a file. */
async function answersOfService(): Promise<Map<string, object>> {
  const pair = (await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as CryptoKeyPair;
  const publicKey = encodeBase64url(new Uint8Array(await crypto.subtle.exportKey('raw', pair.publicKey)));
  const signed = (payload: Uint8Array) => signRulesetFile(payload, { kid: KID, privateKey: pair.privateKey });

  const compiler = new RulesetCompiler({ instanceId: INSTANCE, version: 1, createdAtMs: 0 });
  compiler.add({ type: 'ip', value: BLOCKED_IP, verdict: 'block' });
  compiler.add({ type: 'ip', value: CHALLENGED_IP, verdict: 'challenge' });
  const base = await signed(compiler.finish());
  const bot = { id: 'example-search', behaviours: ['search' as const], patterns: ['examplebot'], tokens: [] };
  const bots = await signed(encodeBotTable({ builtAtMs: 0, bots: [bot], networks: new Map() }));
  const config: EdgeConfig = {
    format: configFormats[0],
    configVersion: 'c1',
    instanceId: INSTANCE,
    policy: writtenPolicy.parse({}),
    siteKey: 'site_1',
    secretKey: 'secret_1',
    site: unknownSite,
    keys: { current: keys, previous: null },
    rulesetKeys: [{ kid: KID, publicKey }],
    pageStyle: '',
    detectors: [...riskDetectors],
    detectorWeights: riskDetectors.map(sessionWeight),
    pendingExempt: [],
    takesInputs: true,
    raisedJtis: [],
  };
  const version: EdgeVersion = {
    configVersion: config.configVersion,
    base: { hash: base.hash, version: 1 },
    delta: { version: 1 },
    bots: { hash: bots.hash },
  };
  const solved = { jti: 'solved-1', action: 'clearance', level: 3, kind: 'pow', powDifficulty: 10 };
  return new Map<string, object>([
    ['/edge/v1/version', version],
    ['/edge/v1/config', config],
    [`/edge/v1/rulesets/${base.hash}`, base.file],
    [`/edge/v1/bots/${bots.hash}`, bots.file],
    ['/edge/v1/verdicts', { accepted: 1, duplicates: 0, rejected: [] }],
    // The counts of the visitor's network and of the larger network around it.
    [
      '/edge/v1/limits/report',
      {
        sums: [
          [0, 1],
          [0, 1],
        ],
      },
    ],
    ['/edge/v1/seals/spend', { spent: true }],
    ['/siteverify', { verified: true, ...solved }],
  ]);
}
