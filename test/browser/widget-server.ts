/**
 * A small server with the API that the widget calls: real RSW parameters and checks from `src/captcha`, the real
 * scripts, and pages under a strict CSP. It replaces edge and service where only the browser side is tested.
 */
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { encodeBase64url } from '../../src/bytes/base64url.ts';
import { generateRswKey } from '../../src/captcha/pow/rsw-key.ts';
import { checkSha256, mintSha256 } from '../../src/captcha/pow/pow-sha256.ts';
import { RswMinter } from '../../src/captcha/pow/rsw-mint.ts';
import type { ChallengeResponse, PowTask, SolutionResponse } from '../../src/contract/captcha/challenge-api.ts';
import { pageLanguages } from '../../src/locales/pages.generated.ts';
import { renderChallengePage, type ChallengePageInput } from '../../src/edge/answer/pages/challenge-page.ts';
import { pageStyle } from '../../src/branding/page-style.ts';
import { pageSecurityHeaders } from '../../src/edge/answer/pages/page-layout.ts';
import { environmentReport } from '../../src/contract/edge/page-reports.ts';
import type { ChallengeKind, PowLane } from '../../src/contract/vocabulary.ts';
import { compatAssets, moduleAssets } from '../../src/service/captcha/widget-assets.ts';
import { type VisualTask, visualTask } from './visual-tasks.ts';
import { buildClient, type ClientAsset } from '../../scripts/build-client.ts';
import { stackNow } from '../support/clock.ts';

/** The CSP of a strict site: what the widget needs and nothing more. */
export const STRICT_CSP =
  "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; style-src 'self'; form-action 'self'; require-trusted-types-for 'script'";

/** What the service sends with `frame.html`. */
const FRAME_CSP =
  "default-src 'none'; script-src 'self'; worker-src 'self'; frame-ancestors *; require-trusted-types-for 'script'";

/** Difficulty 1: 18,750 squarings, about 30 ms. */
const LEVEL = 0;
/** A small amount of work for the SHA-256 lane, in squarings. */
const SHA256_SQUARINGS = 4000;
const WAIT_MS = 300;
/** The service's clock is two days behind the browser's. */
const SERVICE_NOW_MS = stackNow() - 200_000_000;
const FORM_FIELD_MAX_BYTES = 2_000_000;

export interface WidgetServer {
  url: string;
  assets: Record<string, ClientAsset>;
  /** Pages by path: markup, and headers in addition to the strict CSP. */
  pages: Map<string, { body: string; headers?: Record<string, string> }>;
  /** Requests to the API, in order. */
  calls: { path: string; body: Record<string, unknown> }[];
  /** Forms received by `/submit` and by the replay of a held submission. */
  submitted: URLSearchParams[];
  /** Responses to send instead of the real ones. Each is used once, in order. */
  overrides: ((path: string) => { status: number; body: unknown } | null)[];
  tokenLifetimeMs: number;
  /** The kind of task that `/challenge` returns. Image tasks take two rounds. */
  kind: ChallengeKind;
  /** The kind of proof of work. */
  lane: PowLane;
  honeypot: ChallengeResponse['honeypot'];
  /** Of the site. */
  privacyUrl: string | undefined;
  interstitial: Partial<ChallengePageInput>;
  /** Bodies that reached `/api/*` with session and clearance. */
  apiBodies: string[];
  /** Paths of all requests, in order. */
  visits: string[];
  /** Whether the response to a solution sets the session's cookie. */
  setsSession: boolean;
  /** Opening a session waits for it. */
  sessionOpens: Promise<unknown>;
  /** Whether `/verify` sets the clearance cookie. */
  clears: boolean;
  /** The answer to a request for `/api/late` is decided at once and sent after it. */
  lateAnswer: Promise<unknown>;
}

/** The settings at the start of every test. */
const untouched = () => ({
  tokenLifetimeMs: 120_000,
  kind: 'pow' as const,
  lane: 'rsw' as const,
  honeypot: undefined,
  privacyUrl: undefined,
  interstitial: {},
  sessionOpens: Promise.resolve(),
  setsSession: true,
  clears: true,
  lateAnswer: Promise.resolve(),
});

interface OpenTask {
  isRight: VisualTask['isRight'];
  /** What follows a right answer; `null` for a token. */
  next: (() => ChallengeResponse) | null;
  /** What follows a wrong one. */
  again?: () => ChallengeResponse;
  /** Sound instead of a picture or the other way round; `null` once it was asked for. */
  otherForm?: (() => ChallengeResponse) | null;
}

let parts: Promise<{ minter: RswMinter; assets: Record<string, ClientAsset> }> | undefined;

/** Listens while the file's tests run. Every test starts with fresh calls and settings; `pages` stay. */
export function useWidgetServer(): WidgetServer {
  const { server, listen, close } = widgetServer();
  beforeAll(listen);
  afterAll(close);
  beforeEach(() => {
    for (const list of [server.calls, server.submitted, server.overrides, server.apiBodies, server.visits])
      list.length = 0;
    Object.assign(server, untouched());
  });
  return server;
}

function widgetServer(): { server: WidgetServer; listen: () => Promise<void>; close: () => Promise<void> } {
  let minter: RswMinter;
  const tokens = new Set<string>();
  let sessions = 0;
  const tasks = new Map<string, OpenTask>();

  /** `paid`: the proof of work before a picture is done. */
  function mint(audio: boolean, paid = false, round = 0, switched = false): ChallengeResponse {
    const challenge = randomBytes(16).toString('base64url');
    const { honeypot, kind, privacyUrl } = server;
    const shared = {
      jti: challenge,
      kind,
      challenge,
      expiresAt: stackNow() + 60_000,
      ...(honeypot && { honeypot }),
      ...(privacyUrl && { privacyUrl }),
    };
    if (kind !== 'pow' && paid) {
      const { task, isRight } = visualTask(kind, audio, round);
      const isLast = audio || kind === 'puzzle' || round === 1;
      const beside = round === 0 ? work() : undefined;
      tasks.set(challenge, {
        isRight: (solution) => isRight(solution) && beside?.isRight(solution) !== false,
        next: isLast ? null : () => mint(false, true, 1),
        again: () => mint(audio, true, 0, switched),
        otherForm: switched ? null : () => mint(!audio, true, 0, true),
      });
      return { ...shared, ...task, ...(beside && { pow: beside.pow }) };
    }
    const { pow, isRight } = work();
    tasks.set(challenge, { isRight, next: kind === 'pow' ? null : () => mint(audio, true) });
    return { ...shared, pow };
  }

  function work(): { pow: PowTask; isRight: VisualTask['isRight'] } {
    if (server.lane === 'wait') {
      const notBefore = stackNow() + WAIT_MS;
      return { pow: { lane: 'wait', waitMs: WAIT_MS, notBefore }, isRight: () => stackNow() >= notBefore };
    }
    if (server.lane === 'sha256') {
      const puzzles = mintSha256(SHA256_SQUARINGS);
      return {
        pow: { lane: 'sha256', ...puzzles },
        isRight: ({ counters }) => checkSha256(puzzles.salt, puzzles.bits, counters),
      };
    }
    const { t, x, y } = minter.mint(LEVEL);
    const pow = { lane: 'rsw' as const, t, n: encodeBase64url(minter.modulus), x: encodeBase64url(x) };
    return { pow, isRight: (solution) => solution['y'] === encodeBase64url(y) };
  }

  function judge(body: Record<string, unknown>): SolutionResponse {
    const challenge = String(body['challenge']);
    const solution = body['solution'] as Record<string, unknown>;
    const task = tasks.get(challenge);
    tasks.delete(challenge);
    const refused = { verified: false, reason: 'CAPTCHA.INVALID_SOLUTION' };
    if (typeof solution['audio'] === 'boolean' && task?.otherForm !== undefined)
      return task.otherForm === null ? refused : { verified: false, next: task.otherForm() };
    if (task?.isRight(solution) !== true)
      return task?.again === undefined ? refused : { ...refused, next: task.again() };
    if (task.next !== null) return { verified: false, next: task.next() };
    const token = randomBytes(24).toString('base64url');
    tokens.add(token);
    return { verified: true, token, expiresAt: SERVICE_NOW_MS + server.tokenLifetimeMs, now: SERVICE_NOW_MS };
  }

  function api(path: string, body: Record<string, unknown>): { status: number; body: unknown; cookie?: string } {
    server.calls.push({ path, body });
    for (const override of server.overrides) {
      const answer = override(path);
      if (answer === null) continue;
      server.overrides.splice(server.overrides.indexOf(override), 1);
      return answer;
    }
    if (path === 'session') return session(body);
    if (path === 'telemetry') return { status: 200, body: {} };
    if (path === 'challenge') {
      const { audio = false } = (body['capabilities'] ?? {}) as { audio?: boolean };
      return { status: 200, body: mint(audio) };
    }
    if (path === 'solution') return { status: 200, body: judge(body) };
    if (path !== 'verify') return { status: 404, body: {} };
    const verified = tokens.delete(String(body['token']));
    return {
      status: 200,
      body: { verified },
      ...(verified && server.clears ? { cookie: 'pass=1; Path=/; HttpOnly' } : {}),
    };
  }

  /** The first call gets work; its solution gets the cookie, with the report of the browser. */
  function session(body: Record<string, unknown>): { status: number; body: unknown; cookie?: string } {
    if (body['challenge'] === undefined) {
      const challenge = randomBytes(16).toString('base64url');
      const { pow, isRight } = work();
      tasks.set(challenge, { isRight, next: null });
      return { status: 200, body: { challenge, pow, expiresAt: stackNow() + 60_000 } };
    }
    if (!environmentReport.safeParse(body['environment']).success || !judge(body).verified)
      return { status: 400, body: { error: { key: 'CAPTCHA.INVALID_SOLUTION' } } };
    const cookie = `protect_session=jti-${++sessions}|jwt; Path=/`;
    return { status: 200, body: {}, ...(server.setsSession ? { cookie } : {}) };
  }

  /** A protected JSON path: 401 without a session, 403 with a challenge without clearance. */
  function guarded(cookies: string, text: string): { status: number; headers: Record<string, string>; body: string } {
    if (!cookies.includes('protect_session='))
      return { status: 401, headers: { 'x-protect-status': 'no-session', 'x-protect-decision': 'block' }, body: '{}' };
    if (!cookies.includes('pass=1')) {
      const challenge = { siteKey: 'site-1', action: 'clearance' };
      return { status: 403, headers: { 'x-protect-decision': 'challenge' }, body: JSON.stringify({ challenge }) };
    }
    server.apiBodies.push(text);
    return { status: 200, headers: {}, body: JSON.stringify({ got: text }) };
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', server.url);
    server.visits.push(url.pathname);
    const send = (status: number, headers: Record<string, string>, body: string): void => {
      response.writeHead(status, headers);
      response.end(body);
    };
    // The files are below the gate's path as at an edge, and at the root as at the service.
    const name = /^\/(?:__protect|captcha\/v1)\/([a-z-]+)(\.js|\.html)?$/.exec(url.pathname);
    const module = request.headers['sec-fetch-mode'] === 'cors' ? moduleAssets[url.pathname] : undefined;
    const rooted = module ?? (compatAssets as Record<string, string>)[url.pathname] ?? url.pathname.slice(1);
    const asset = server.assets[name === null ? rooted : `${name[1]}${name[2]}`];
    if (asset !== undefined)
      return send(
        200,
        url.pathname.endsWith('.html')
          ? { 'content-type': 'text/html', 'content-security-policy': FRAME_CSP }
          : { 'content-type': 'text/javascript', 'access-control-allow-origin': '*' },
        asset.body,
      );
    const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'content-type' };
    if (request.method === 'OPTIONS') return send(204, cors, '');
    const text = await read(request);
    if (name?.[1] === 'replay' || url.pathname === '/submit') {
      server.submitted.push(new URLSearchParams(text.trim()));
      return send(200, { 'content-type': 'text/html' }, '<title>received</title>');
    }
    if (url.pathname.startsWith('/api/')) {
      const { status, headers, body } = guarded(request.headers.cookie ?? '', text);
      if (url.pathname === '/api/late') await server.lateAnswer;
      return send(status, { 'content-type': 'application/json', ...headers }, body);
    }
    if (name !== null && request.method === 'POST') {
      if (name[1] === 'session') await server.sessionOpens;
      const { status, body, cookie } = api(name[1] ?? '', JSON.parse(text) as Record<string, unknown>);
      const headers = { 'content-type': 'application/json', ...cors, ...(cookie ? { 'set-cookie': cookie } : {}) };
      return send(status, headers, JSON.stringify(body));
    }
    const page = server.pages.get(url.pathname);
    if (page !== undefined) {
      const headers = {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': STRICT_CSP,
        ...page.headers,
      };
      return send(200, headers, page.body);
    }
    // Full builds of Chromium request it and log an error when it is missing.
    if (url.pathname === '/favicon.ico') return send(204, {}, '');
    if (!url.pathname.startsWith('/protected')) return send(404, {}, '');
    if (request.headers.cookie?.includes('pass=1') === true)
      return send(
        200,
        { 'content-type': 'text/html' },
        `<title>inside</title><p id="referer">${request.headers.referer ?? ''}</p>`,
      );
    const nonce = randomBytes(18).toString('base64');
    const html = renderChallengePage({
      nonce,
      requestId: 'request-1',
      host: 'shop.example',
      acceptLanguage: request.headers['accept-language'] ?? null,
      languages: pageLanguages,
      branding: {},
      style: pageStyle(server.interstitial.branding ?? {}),
      siteKey: 'site-1',
      returnTo: url.pathname + url.search,
      assetHashes: Object.fromEntries(Object.entries(server.assets).map(([file, { hash }]) => [file, hash])),
      ...server.interstitial,
    });
    return send(403, pageSecurityHeaders(nonce), html);
  }

  const listener = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      response.writeHead(500);
      response.end(String(error));
    });
  });
  const server: WidgetServer = {
    url: '',
    assets: {},
    pages: new Map(),
    calls: [],
    submitted: [],
    overrides: [],
    apiBodies: [],
    visits: [],
    ...untouched(),
  };
  return {
    server,
    async listen() {
      // Built once per process, since all test files use the same.
      parts ??= Promise.all([generateRswKey(0), buildClient()]).then(([key, assets]) => ({
        minter: new RswMinter(key),
        assets,
      }));
      const made = await parts;
      minter = made.minter;
      server.assets = made.assets;
      await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
      server.url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
    },
    close: () =>
      new Promise((resolve) => {
        listener.closeAllConnections();
        listener.close(() => resolve());
      }),
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > FORM_FIELD_MAX_BYTES) throw new Error('body too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
