/**
 * A service for one edge that a test can break. It has real config, real signed ruleset files and receives real
 * records. On demand it is silent, fails or sends garbage, for the tests of the failure contract.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mintSessionJwt, type SessionClaims } from '../../src/risk/session-token.ts';
import { encodeBotTable } from '../../src/bots/encode-bot-table.ts';
import { visitorBinding } from '../../src/address/visitor-binding.ts';
import { type EdgeConfig, type SiteDemand, unknownSite } from '../../src/contract/edge/edge-responses.ts';
import { configFormats } from '../../src/contract/edge/formats.ts';
import { pageStyle } from '../../src/branding/page-style.ts';
import { riskDetectors } from '../../src/contract/edge/risk-detectors.ts';
import { sessionWeight } from '../../src/risk/detectors.ts';
import { instancePolicy } from '../../src/contract/management/instance-policy.ts';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { RulesetCompiler } from '../../src/rules/compiler.ts';
import { encodeDelta } from '../../src/rules/delta.ts';
import { answering, bodyOf } from '../support/answering.ts';
import { signRulesetFile } from '../../src/rules/signing.ts';
import { clientAssets } from '../../src/widget/bundle.generated.ts';
import type { EdgeRule } from '../../src/rules/types.ts';
import { FIREFOX } from '../support/browse.ts';
import { stackNow } from '../support/clock.ts';

/** `other-release`: its browser files are not those this edge was built with. */
export type Trouble =
  | 'none'
  | 'other-release'
  | 'error'
  | 'garbage'
  | 'silent'
  | 'empty'
  | 'refused'
  | 'forbidden'
  | 'missing'
  | 'limited'
  | 'corrupt-ruleset'
  | 'wrong-key';

/** What a service, or something in front of it, says to an edge that it refuses. No visitor may read it. */
export const OPERATORS_TEXT = 'The client JWT was revoked';
const refusals: Partial<Record<Trouble, [status: number, key: string]>> = {
  refused: [401, 'API.UNAUTHORIZED'],
  forbidden: [403, 'API.ACCOUNT_DISABLED'],
  missing: [404, 'API.NOT_FOUND'],
  limited: [429, 'OTHER.TOO_MANY'],
};

const refusalBody = (code: number, reason: string) =>
  JSON.stringify({ error: { code, message: OPERATORS_TEXT, key: reason } });

type PolicySet = NonNullable<EdgeConfig['policySet']>;

export interface Upstream {
  url: string;
  instanceId: string;
  clientJwt: string;
  trouble: Trouble;
  /** Whether calls for a session fail, and no others. */
  sessionTrouble: boolean;
  /** What a call for a challenge is refused with. */
  challengeRefusal: { code: number; key: string } | null;
  verifyTrouble: 'none' | 'silent' | 'garbage' | 'empty' | 'error';
  /** What `/siteverify` returns without trouble. */
  verifyAnswer: object;
  /** Requested paths, in order. */
  calls: string[];
  /** Calls that a silent service still leaves open; the edge's own deadlines end them. */
  open: { path: string }[];
  records: VerdictRecord[];
  counters: Record<string, number>;
  setPolicy(policy: object): void;
  /** The instance's policies, in addition to what `setPolicy` set. */
  setPolicies(policies: PolicySet['policies'], origins?: PolicySet['origins'], limits?: PolicySet['limits']): void;
  /** What of the site's settings differs from a site whose settings are not known. */
  setSite(site: Partial<SiteDemand>): void;
  configVersion(): string;
  /** Publishes a new base or, with `asDelta`, a delta over the same base. */
  setRules(rules: EdgeRule[], asDelta?: boolean): Promise<void>;
  /** A session JWT for a visitor on the loopback address with the user agent of `browse`. */
  mintSession(claims?: Partial<SessionClaims>): Promise<string>;
  raise(jti: string, score: number): void;
  stop(): Promise<void>;
}

const key = (fill: number) => Buffer.alloc(32, fill).toString('base64url');

export async function startUpstream(): Promise<Upstream> {
  const instanceId = 'inst_upstream';
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  const stranger = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  const publicKey = Buffer.from(await crypto.subtle.exportKey('raw', pair.publicKey)).toString('base64url');
  const sign = (payload: Uint8Array, from = pair) =>
    signRulesetFile(payload, { kid: 'r1', privateKey: from.privateKey });
  const keys = { kid: 'k1', clearance: key(1), session: key(2), seal: key(3), originSignature: key(4) };

  const raisedJtis: EdgeConfig['raisedJtis'] = [];
  let version = 0;
  let configVersion = 1;
  let site = unknownSite;
  let policySet: EdgeConfig['policySet'];
  let policy = instancePolicy.parse({ sessionsEnabled: false });
  let base = { hash: '', version: 0, file: new Uint8Array(0), wrong: new Uint8Array(0) };
  let delta = { version: 0, file: new Uint8Array(0) };
  const now = Math.floor(stackNow() / 1000);
  const jwtClaims = { sub: instanceId, iat: now, exp: now + 86_400 };

  const upstream: Upstream = {
    url: '',
    instanceId,
    clientJwt: `e30.${Buffer.from(JSON.stringify(jwtClaims)).toString('base64url')}.c2ln`,
    trouble: 'none',
    sessionTrouble: false,
    challengeRefusal: null,
    verifyTrouble: 'none',
    verifyAnswer: {
      verified: true,
      level: 2,
      kind: 'image',
      powDifficulty: 6,
      action: 'clearance',
      jti: 'ab'.repeat(16),
    },
    calls: [],
    open: [],
    records: [],
    counters: {},
    setPolicy(members) {
      policy = instancePolicy.parse({ sessionsEnabled: false, ...members });
      configVersion++;
    },
    setPolicies(policies, origins, limits = []) {
      policySet = { version: ++configVersion, policies, limits, ...(origins ? { origins } : {}) };
    },
    setSite(changes) {
      site = { ...unknownSite, ...changes };
      configVersion++;
    },
    configVersion: () => `c${configVersion}`,
    async setRules(rules, asDelta = false) {
      version++;
      if (asDelta) {
        const payload = encodeDelta({
          instanceId,
          baseHash: base.hash,
          baseVersion: base.version,
          version,
          upserts: rules,
          removals: [],
        });
        delta = { version, file: new Uint8Array((await sign(payload)).file) };
        return;
      }
      const compiler = new RulesetCompiler({ instanceId, version, createdAtMs: stackNow() });
      for (const rule of rules) compiler.add(rule);
      const payload = compiler.finish();
      const { file, hash } = await sign(payload);
      base = { hash, version, file: new Uint8Array(file), wrong: new Uint8Array((await sign(payload, stranger)).file) };
      delta = { version, file: new Uint8Array(0) };
    },
    async mintSession(claims = {}) {
      const iat = Math.floor(stackNow() / 1000);
      const bnd = await visitorBinding('127.0.0.1', FIREFOX);
      const full = { jti: 'jti-1', sub: instanceId, iat, exp: iat + 300, sxp: iat + 3600, risk: 0, bnd, ...claims };
      return mintSessionJwt(Buffer.alloc(32, 2), 'k1', full);
    },
    raise(jti, score) {
      raisedJtis.push({ jti, score });
      configVersion++;
    },
    stop() {
      server.closeAllConnections();
      return new Promise((done) => server.close(() => done()));
    },
  };
  await upstream.setRules([]);
  const bots = await sign(encodeBotTable({ builtAtMs: stackNow(), bots: [], networks: new Map() }));

  const config = (): EdgeConfig => ({
    format: configFormats[0],
    configVersion: `c${configVersion}`,
    instanceId,
    policy,
    ...(policySet ? { policySet, limitKey: key(13) } : {}),
    siteKey: 'site_upstream',
    secretKey: 'secret_upstream',
    site,
    keys: { current: keys, previous: null },
    rulesetKeys: [{ kid: 'r1', publicKey }],
    pageStyle: pageStyle(instancePolicy.parse({}).branding),
    detectors: [...riskDetectors],
    detectorWeights: riskDetectors.map(sessionWeight),
    pendingExempt: [],
    takesInputs: true,
    raisedJtis,
  });

  const server = createServer(answering(answer));
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').replace(/\?(?:bots|reads).*$/, '');
    upstream.calls.push(path);
    const body = await bodyOf(request);
    const send = (status: number, content: string | Uint8Array, type = 'application/json') =>
      response.writeHead(status, { 'content-type': type }).end(content);
    if (path === '/siteverify') {
      if (upstream.verifyTrouble === 'silent') return leaveOpen(path, response);
      if (upstream.verifyTrouble === 'error') return void send(500, '{}');
      if (upstream.verifyTrouble === 'garbage') return void send(200, '<html>');
      return void send(200, upstream.verifyTrouble === 'empty' ? '{}' : JSON.stringify(upstream.verifyAnswer));
    }
    if (path === '/edge/v1/verdicts' && ['none', 'other-release'].includes(upstream.trouble)) {
      const batch = JSON.parse(body.toString()) as { records: VerdictRecord[]; counters: Record<string, number> };
      upstream.records.push(...batch.records);
      for (const [name, by] of Object.entries(batch.counters)) {
        upstream.counters[name] = (upstream.counters[name] ?? 0) + by;
      }
      return void send(200, JSON.stringify({ accepted: batch.records.length, duplicates: 0, rejected: [] }));
    }
    if (upstream.trouble === 'silent') return leaveOpen(path, response);
    if (upstream.trouble === 'error') return void send(500, 'broken');
    const refused = refusals[upstream.trouble];
    if (refused) return void send(refused[0], refusalBody(...refused));
    if (upstream.trouble === 'empty') return void send(200, '{}');
    if (upstream.trouble === 'garbage') return void send(200, '<html>not what you asked for</html>');
    if (path === '/captcha/v1/challenge' && upstream.challengeRefusal) {
      const { code, key: reason } = upstream.challengeRefusal;
      return void send(code, refusalBody(code, reason));
    }
    if (path === '/edge/v1/version') {
      const answered = {
        configVersion: `c${configVersion}`,
        base: { hash: base.hash, version: base.version },
        delta: { version: delta.version },
        bots: { hash: bots.hash },
      };
      return void send(200, JSON.stringify(answered));
    }
    if (path === '/edge/v1/sessions' && upstream.sessionTrouble) return void send(500, 'broken');
    if (path === '/edge/v1/sessions') {
      const asked = JSON.parse(body.toString()) as { jwt?: string };
      const jti = asked.jwt === undefined ? 'jti-new' : 'jti-1';
      const jwt = await upstream.mintSession({ jti });
      const ends = { expiresAt: stackNow() + 3_600_000, jwtExpiresAt: stackNow() + 300_000 };
      return void send(200, JSON.stringify({ jti, jwt, ...ends }));
    }
    if (path === '/edge/v1/config') return void send(200, JSON.stringify(config()));
    if (path.endsWith(`/delta/${delta.version}`)) return void send(200, delta.file, 'application/octet-stream');
    if (path.startsWith('/edge/v1/rulesets/')) {
      const file = upstream.trouble === 'wrong-key' ? base.wrong : new Uint8Array(base.file);
      if (upstream.trouble === 'corrupt-ruleset') file.set([0xff ^ (file.at(40) ?? 0)], 40);
      return void send(200, file, 'application/octet-stream');
    }
    if (path === `/edge/v1/bots/${bots.hash}`)
      return void send(200, new Uint8Array(bots.file), 'application/octet-stream');
    const file = clientAssets[path.slice(1).split('?', 1)[0] ?? ''];
    if (file) return void send(200, upstream.trouble === 'other-release' ? `${file.body} ` : file.body);
    send(404, '{}');
  }
  function leaveOpen(path: string, response: ServerResponse): void {
    const call = { path };
    upstream.open.push(call);
    response.once('close', () => (upstream.open = upstream.open.filter((other) => other !== call)));
  }
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  upstream.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return upstream;
}
