/**
 * The quick start of the README over HTTP through both Workers: a rule is created, enforced and read back. Then the
 * edge's credential, exactly-once verification and idempotent verdicts.
 */
import { execFile } from 'node:child_process';
import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { describe, expect, test } from 'vitest';
import { browse } from '../support/browse.ts';
import { eventually, manage, useStack } from '../support/stack.ts';
import { verdictRecordOf } from '../support/verdict-record.ts';
import { hitsOf, solvedToken } from './edge-visitor.ts';
import { stackNow } from '../support/clock.ts';

const FORM = 'application/x-www-form-urlencoded';
const stack = useStack();

function visit(path: string, userAgent: string, submission?: string): Promise<Response> {
  const headers = { 'user-agent': userAgent, ...(submission ? { 'content-type': FORM } : {}) };
  return browse(`${stack().edgeUrl}${path}`, submission ? { method: 'POST', body: submission, headers } : { headers });
}

interface Verdict {
  request_id: string;
  decision: string;
  decided_by: string;
  explain: string;
  verified: boolean | null;
}

/** Batches of verdicts arrive a moment after the responses. */
function verdictsAt(
  requestPath: string,
  done: (verdicts: Verdict[]) => boolean,
): Promise<{ verdicts: Verdict[]; total: number }> {
  return eventually(
    () => manage<{ verdicts: Verdict[]; total: number }>(stack(), '/protect/verdicts', { requestPath }),
    ({ verdicts }) => done(verdicts),
  );
}

describe('the quick start', () => {
  test('a new rule blocks, and the reference on the page leads to the reason', async () => {
    expect((await visit('/walk', 'badbot/1.0')).status).not.toBe(403);
    await manage(stack(), '/protect/access-rules/create', {
      rules: [{ type: 'userAgent', value: 'badbot', verdict: 'block' }],
    });
    const blocked = await eventually(
      () => visit('/walk', 'badbot/1.0'),
      (response) => response.status === 403,
    );
    const reference = blocked.headers.get('x-protect-request-id') ?? '';
    expect(await blocked.text()).toContain(reference);

    const { verdicts } = await verdictsAt('/walk', (all) => all.some(({ request_id }) => request_id === reference));
    expect(verdicts.find((verdict) => verdict.request_id === reference)).toMatchObject({
      decision: 'block',
      decided_by: 'userAgent:badbot',
    });
  });

  test('a visitor’s reference finds its verdict alone, by any filter, and the command says why', async () => {
    const asScript = { 'user-agent': 'badbot/1.0', accept: 'application/json', 'sec-fetch-dest': 'empty' };
    const blocked = await browse(`${stack().edgeUrl}/why`, { headers: asScript });
    const { requestId, error } = (await blocked.json()) as { requestId: string; error: object };
    expect([blocked.status, requestId, error]).toEqual([
      403,
      blocked.headers.get('x-protect-request-id'),
      expect.objectContaining({ code: 403 }),
    ]);
    const find = (path: string, body: object) => manage<{ verdicts: Verdict[]; total: number }>(stack(), path, body);
    await eventually(
      () => find('/protect/verdicts', { requestId }),
      ({ total }) => total === 1,
    );
    for (const [path, body] of [
      ['/protect/verdicts', { requestId: ` ${requestId.toUpperCase()}\n` }],
      ['/protect/verdicts', { requestId, decision: 'block', requestPath: '/w*' }],
      ['/protect/verdicts/search', { requestId }],
    ] as const) {
      expect(await find(path, body)).toMatchObject({ total: 1, verdicts: [{ request_id: requestId }] });
    }
    expect((await find('/protect/verdicts', { requestId, decision: 'allow' })).total).toBe(0);
    expect((await find('/protect/verdicts', { requestId: crypto.randomUUID() })).total).toBe(0);

    const told = await why(requestId);
    expect(told.code).toBe(0);
    expect(told.output).toMatch(/^GET .*\/why was blocked with status 403 on /);
    expect(told.output).toContain('Blocked, because an access rule is for user agents with badbot.');
    expect(told.output).toContain('userAgent:badbot: block');
    expect(told.output).toMatch(/^client rule +block +userAgent:badbot +decided$/m);
    expect(told.output).toMatch(/^Without userAgent:badbot: (?:allow|challenge), by /m);
    expect(await why(crypto.randomUUID())).toMatchObject({
      code: 1,
      output: expect.stringContaining('No verdict has this reference') as string,
    });
    // What the page shows large, as a person says it.
    expect(await why(`${requestId.slice(4, 8)} ${requestId.slice(-4)}`.toUpperCase())).toEqual(told);
    expect(await why('0000-0000')).toMatchObject({
      code: 1,
      output: expect.stringContaining('No verdict has the short reference 0000-0000.') as string,
    });
    expect(await why('nonsense')).toMatchObject({
      code: 1,
      output: expect.stringContaining('must be the reference of a request') as string,
    });
  });

  function why(reference: string): Promise<{ code: number; output: string }> {
    const words = ['src/cli/gatehouse.ts', 'why', reference, '--text', '--state', stack().stateDir];
    return new Promise((done) => {
      execFile(process.execPath, words, (failure, stdout, stderr) =>
        done({ code: failure === null ? 0 : 1, output: `${stdout}${stderr}` }),
      );
    });
  }

  test('a request is told once by the live tail', async () => {
    type Tail = { verdicts: Verdict[]; cursor: string };
    const tail = (body: object) => manage<Tail>(stack(), '/protect/verdicts/tail', body);
    let { cursor } = await tail({ limit: 1 });
    const response = await browse(`${stack().edgeUrl}/tailed`);
    const told: string[] = [];
    await eventually(
      async () => {
        const next = await tail({ cursor, requestPath: '/tailed' });
        ({ cursor } = next);
        told.push(...next.verdicts.map(({ request_id }) => request_id));
        return told;
      },
      (ids) => ids.length > 0,
    );
    expect((await tail({ cursor, requestPath: '/tailed' })).verdicts).toEqual([]);
    expect(told).toEqual([response.headers.get('x-protect-request-id')]);
  });

  test('a solved challenge lets the submission reach the origin once, with its body intact and its token verified', async () => {
    await manage(stack(), '/protect/access-rules/create', {
      rules: [{ type: 'userAgent', value: 'oddbot', verdict: 'challenge' }],
    });
    const challenged = await eventually(
      () => visit('/echo/order', 'oddbot/1.0'),
      (response) => response.status === 403,
    );
    expect(challenged.headers.get('x-protect-decision')).toBe('challenge');

    const token = await solvedToken(stack(), { 'user-agent': 'oddbot/1.0' }, { siteKey: stack().siteKey });
    const body = new URLSearchParams({ item: 'a & b', 'captcha-response': JSON.stringify({ token }) }).toString();
    const before = await hitsOf(stack(), '/echo/order');
    const answer = await visit('/echo/order', 'oddbot/1.0', body);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({
      method: 'POST',
      bodyLength: body.length,
      headers: { 'x-protect-verified': 'true' },
    });
    expect(await hitsOf(stack(), '/echo/order')).toBe(before + 1);
    const again = await visit('/echo/order', 'oddbot/1.0', body);
    expect(again.status).toBe(403);
    expect(await hitsOf(stack(), '/echo/order')).toBe(before + 1);
    const { verdicts } = await verdictsAt('/echo/order', (all) => all.some(({ verified }) => verified === false));
    expect(verdicts.filter(({ verified }) => verified === true)).toHaveLength(1);
  });
});

describe('a token', () => {
  test('that fifty backends verify at once is valid for exactly one', async () => {
    const token = await solvedToken(
      stack(),
      { 'user-agent': 'person' },
      { siteKey: stack().siteKey, action: 'contact' },
    );
    const answers = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const response = await fetch(`${stack().serviceUrl}/siteverify`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ secret: stack().secretKey, token }),
        });
        expect(response.status).toBe(200);
        return ((await response.json()) as { verified: boolean }).verified;
      }),
    );
    expect(answers.filter(Boolean)).toHaveLength(1);
  });
});

describe('the client JWT', () => {
  const edgeCalls = ['/edge/v1/version', '/edge/v1/config'];

  async function statusWith(bearer: string | null): Promise<number[]> {
    const headers: Record<string, string> = bearer === null ? {} : { authorization: `Bearer ${bearer}` };
    const answers = await Promise.all(edgeCalls.map((path) => fetch(`${stack().serviceUrl}${path}`, { headers })));
    return answers.map(({ status }) => status);
  }

  test('verifies with the published keys and opens the edge API', async () => {
    const jwks = createRemoteJWKSet(new URL(`${stack().serviceUrl}/.well-known/jwks.json`));
    const { payload, protectedHeader } = await jwtVerify(stack().clientJwt, jwks, { audience: 'protect-edge' });
    expect(protectedHeader.alg).toBe('EdDSA');
    expect(payload).toMatchObject({ iss: stack().serviceUrl, sub: stack().instanceId });
    expect(await statusWith(stack().clientJwt)).toEqual([200, 200]);
  });

  test('that is changed, revoked or of another kind gets 401 and no data', async () => {
    const { clientJwt } = await manage<{ clientJwt: string }>(stack(), '/protect/client-jwt/generate', {
      protectInstanceId: stack().instanceId,
      expiresInWeeks: 1,
    });
    expect(await statusWith(clientJwt)).toEqual([200, 200]);
    await manage(stack(), '/protect/client-jwt/revoke', {
      protectInstanceId: stack().instanceId,
      jti: decodeJwt(clientJwt).jti ?? '',
    });
    const [head = '', claims = '', signature = ''] = stack().clientJwt.split('.');
    const changed = [head, claims, signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))].join('.');
    const unsigned = `${btoa('{"alg":"none"}').replaceAll('=', '')}.${claims}.`;
    for (const bearer of [null, 'nonsense', stack().apiKey, clientJwt, changed, unsigned]) {
      expect([bearer, await statusWith(bearer)]).toEqual([bearer, [401, 401]]);
    }
  });
});

describe('a batch of verdicts', () => {
  test('sent twice is stored once', async () => {
    const records = Array.from({ length: 20 }, () =>
      verdictRecordOf(stack().instanceId, {
        timestamp: stackNow(),
        site_key: stack().siteKey,
        request_path: '/sent-twice',
      }),
    );
    const send = async () => {
      const response = await fetch(`${stack().serviceUrl}/edge/v1/verdicts`, {
        method: 'POST',
        headers: { authorization: `Bearer ${stack().clientJwt}`, 'content-type': 'application/json' },
        body: JSON.stringify({ records }),
      });
      return (await response.json()) as { accepted: number; duplicates: number };
    };
    expect(await send()).toMatchObject({ accepted: 20, duplicates: 0 });
    expect(await send()).toMatchObject({ accepted: 0, duplicates: 20 });
    expect(await verdictsAt('/sent-twice', (all) => all.length >= 20)).toMatchObject({ total: 20 });
  });
});
