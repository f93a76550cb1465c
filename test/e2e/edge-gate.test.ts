/** The gate over HTTP through both Workers: rules, pages, headers, forwarding and records. */
import { createHash, randomBytes } from 'node:crypto';
import { get, request as httpRequest } from 'node:http';
import { describe, expect, test } from 'vitest';
import { browse, type BrowseInit } from '../support/browse.ts';
import { eventually, manage, useStack } from '../support/stack.ts';
import { addRules, hitsOf, quickRules, signalsOf, type VisitorSignals } from './edge-visitor.ts';

const stack = useStack({ edgeVars: quickRules });
const edge = (path: string, init: BrowseInit & VisitorSignals = {}) =>
  browse(stack().edgeUrl + path, { ...init, headers: { ...signalsOf(stack(), init), ...init.headers } });

const bot = (name: string) => ({ 'user-agent': `Mozilla/5.0 ${name}/1.0` });

/** Status of the response to a WebSocket upgrade. */
const upgrade = (userAgent: string) =>
  new Promise<number>((resolve, reject) => {
    const call = httpRequest(`${stack().edgeUrl}/ws`, {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': randomBytes(16).toString('base64'),
        'user-agent': userAgent,
      },
    });
    call.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve(response.statusCode!);
    });
    call.on('response', (response) => resolve(response.statusCode!));
    call.once('error', reject);
    call.end();
  });

describe('rules at the gate', () => {
  test('a new rule is enforced at the running edge, and a deleted one is not', async () => {
    const visitor = { from: '192.0.2.10' };
    expect((await edge('/echo', visitor)).status).toBe(200);
    const rule = { type: 'ipMask', value: '192.0.2.0/24', verdict: 'block' };
    await manage(stack(), '/protect/access-rules/create', { rules: [rule] });
    await eventually(
      async () => (await edge('/echo', visitor)).status,
      (status) => status === 403,
    );
    await manage(stack(), '/protect/access-rules/delete', { conditions: [{ type: 'ipMask', value: '192.0.2.0/24' }] });
    await eventually(
      async () => (await edge('/echo', visitor)).status,
      (status) => status === 200,
    );
  });

  test('the most specific network rule decides, in either order of creation', async () => {
    await addRules(
      stack(),
      { type: 'ipMask', value: '203.0.113.0/24', verdict: 'block' },
      { type: 'ip', value: '203.0.113.7', verdict: 'allow' },
      { type: 'ip', value: '2001:db8::7', verdict: 'allow' },
      { type: 'ipMask', value: '2001:db8::/32', verdict: 'block' },
    );
    expect((await edge('/echo', { from: '203.0.113.8' })).status).toBe(403);
    expect((await edge('/echo', { from: '203.0.113.7' })).status).toBe(200);
    expect((await edge('/echo', { from: '::ffff:203.0.113.8' })).status).toBe(403);
    expect((await edge('/echo', { from: '2001:db8::8' })).status).toBe(403);
    expect((await edge('/echo', { from: '2001:DB8:0::7' })).status).toBe(200);
  });

  test('signals without the secret are ignored', async () => {
    await addRules(stack(), { type: 'ip', value: '198.51.100.9', verdict: 'block' });
    const forged = await fetch(`${stack().edgeUrl}/echo`, {
      headers: { 'x-client-ip': '198.51.100.9', 'cf-connecting-ip': '198.51.100.9', 'x-forwarded-for': '198.51.100.9' },
    });
    expect(forged.status).toBe(200);
    const { headers } = (await forged.json()) as { headers: Record<string, string> };
    expect(JSON.stringify(headers)).not.toContain('198.51.100.9');
  });
});

describe('responses', () => {
  test('challenge and block responses have the form that the path declares', async () => {
    await addRules(
      stack(),
      { type: 'userAgent', value: 'BlockMe', verdict: 'block' },
      { type: 'userAgent', value: 'ChallengeMe', verdict: 'challenge' },
    );
    const page = await edge('/', { headers: bot('challengeme') });
    expect([page.status, page.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8']);
    expect(page.headers.get('cache-control')).toBe('no-store');
    expect(page.headers.get('x-robots-tag')).toContain('noindex');
    expect(page.headers.get('vary')).toBeTruthy();
    expect(page.headers.get('x-protect-decision')).toBe('challenge');

    const call = await edge('/api/time', { headers: { ...bot('challengeme'), accept: 'text/html' } });
    expect(call.status).toBe(403);
    expect(await call.json()).toMatchObject({
      error: { code: 403, key: 'API.CHALLENGE_REQUIRED' },
      challenge: { siteKey: stack().siteKey, api: '/__protect', action: 'clearance', level: 0 },
    });

    const script = await edge('/', { headers: { ...bot('challengeme'), 'sec-fetch-dest': 'empty' } });
    expect(script.headers.get('content-type')).toContain('application/json');

    const blocked = await edge('/', { headers: bot('blockme') });
    expect(blocked.status).toBe(403);
    expect(await blocked.text()).toContain(blocked.headers.get('x-protect-request-id')!);
    expect((await edge('/api/time', { headers: bot('blockme') })).headers.get('content-type')).toContain('json');
  });

  test('a blocked visitor can open the help page, which repeats the reference of the refused request', async () => {
    await addRules(stack(), { type: 'userAgent', value: 'RefuseMe', verdict: 'block' });
    const blocked = await edge('/', { headers: bot('refuseme') });
    const link = /href="([^"]*help[^"]*)"/.exec(await blocked.text())?.[1] ?? '';
    const headers = { ...bot('refuseme'), 'accept-language': 'de' };
    const help = await edge(link, { headers });
    const page = await help.text();
    expect(help.status).toBe(200);
    expect(page).toContain('Was Sie tun können');
    expect(page).toContain(blocked.headers.get('x-protect-request-id')!);
    expect(page).not.toContain('<script');
    // Only a reference is repeated.
    const other = await edge('/__protect/help?reference=call+0123456', { headers });
    expect(await other.text()).toContain(other.headers.get('x-protect-request-id')!);
  });

  test('without a session a json path responds 401 and a page passes', async () => {
    const asScript = { 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty', accept: '*/*' };
    const call = await edge('/api/time', { headers: asScript });
    expect([call.status, call.headers.get('x-protect-status')]).toEqual([401, 'no-session']);
    expect(await call.json()).toMatchObject({
      error: { code: 401, key: 'API.NO_SESSION' },
      session: { reason: 'no-session', api: '/__protect', script: '/__protect/protect.js' },
    });
    expect((await edge('/')).status).toBe(200);
    const tampered = await edge('/api/time', { headers: { cookie: 'protect_session=abc|e30.e30.e30' } });
    expect([tampered.status, tampered.headers.get('x-protect-status')]).toEqual([401, 'invalid-session']);
  });

  test('a json path that is opened in a tab says why it does not show, and opens a session', async () => {
    const asTab = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', accept: 'text/html,*/*;q=0.8' };
    const opened = await edge('/api/time', { headers: asTab });
    expect([opened.status, opened.headers.get('x-protect-status')]).toEqual([401, 'no-session']);
    expect(opened.headers.get('content-type')).toContain('text/html');
    const page = await opened.text();
    expect(page).toMatch(/<main id="gatehouse"[^>]* data-session/);
    expect(page).toContain('data-return-to="/api/time"');
    expect(page).toContain('requires JavaScript');
  });

  // The statuses are the demo origin's own, which has no robots.txt: that is the gate's.
  test.each([
    ['/robots.txt', 200],
    ['/favicon.ico', 204],
    ['/.well-known/security.txt', 404],
  ])('%s is never challenged', async (path, status) => {
    const answer = await edge(path, { headers: bot('ChallengeMe') });
    expect([answer.status, answer.headers.get('x-protect-decision')]).toEqual([status, 'allow']);
  });

  test('a preflight that would be challenged is forwarded and brings no body back, and one that would be blocked is refused', async () => {
    const preflight = { origin: 'https://other.test', 'access-control-request-method': 'PUT', cookie: 'a=b' };
    const passed = await edge('/echo', { method: 'OPTIONS', headers: { ...bot('ChallengeMe'), ...preflight } });
    expect([passed.status, await passed.text()]).toEqual([200, '']);
    expect((await edge('/echo', { method: 'OPTIONS', headers: { ...bot('BlockMe'), ...preflight } })).status).toBe(403);
  });

  test('a script of another origin can read a challenge response', async () => {
    const answer = await edge('/api/time', { headers: { ...bot('ChallengeMe'), origin: 'https://other.test' } });
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://other.test');
    expect(answer.headers.get('access-control-expose-headers')).toContain('x-protect-request-id');
  });
});

describe('forwarding', () => {
  test('method, path, query and body arrive as they were sent', async () => {
    const body = randomBytes(3_000_000);
    // A PUT without a session is challenged on an html path, so a rule allows this visitor.
    await addRules(stack(), { type: 'ip', value: '192.0.2.50', verdict: 'allow' });
    const allowed = await edge('/echo//a;b=c/d%2Fe/%7Eu?x=1&y=%zz&z=a+b?', {
      from: '192.0.2.50',
      method: 'PUT',
      body,
      headers: { cookie: 'keep=1; __Host-protect-clearance=x; protect_session=y', 'x-protect-verified': 'true' },
    });
    const seen = (await allowed.json()) as Record<string, unknown> & { headers: Record<string, string> };
    expect(seen).toMatchObject({
      method: 'PUT',
      path: '/echo//a;b=c/d%2Fe/%7Eu',
      query: 'x=1&y=%zz&z=a+b?',
      bodyLength: body.length,
      bodySha256: createHash('sha256').update(body).digest('hex'),
    });
    expect(seen.headers).toMatchObject({
      cookie: 'keep=1',
      'x-protect-verified': 'false',
      'x-forwarded-for': '192.0.2.50',
    });
    expect(seen.headers['x-protect-signature']).toMatch(/^t=\d+,kid=[^,]+,v1=[\w-]{43}$/);
  });

  test('a redirect reaches the visitor and is not followed', async () => {
    const answer = await edge('/redirect');
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/echo/redirected']);
  });

  test('an event stream arrives event by event', async () => {
    const received = await new Promise<string>((resolve, reject) => {
      const call = get(`${stack().edgeUrl}/sse`, (response) => {
        response.once('data', (chunk: Buffer) => {
          resolve(chunk.toString());
          call.destroy();
        });
      });
      call.once('error', reject);
    });
    expect(received).toContain(': open');
  });

  test('a HEAD response has no body and the length of one', async () => {
    const answer = await edge('/echo', { method: 'HEAD' });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe('');
  });

  test('a WebSocket passes untouched and a refused upgrade has an HTTP status', async () => {
    expect(await upgrade('Mozilla/5.0')).toBe(101);
    expect(await upgrade('Mozilla/5.0 BlockMe/1')).toBe(403);
    expect(await upgrade('Mozilla/5.0 ChallengeMe/1')).toBe(403);
  });
});

describe('records', () => {
  test('every request leaves one record, found by its reference id', async () => {
    const answers = await Promise.all(
      ['/', '/api/time', '/missing', '/__protect/health'].map((path) => edge(path, { from: '192.0.2.77' })),
    );
    const ids = answers.map((answer) => answer.headers.get('x-protect-request-id'));
    const found = await eventually(
      () =>
        manage<{ verdicts: { request_id: string; source: string }[] }>(stack(), '/protect/verdicts/search', {
          ip: '192.0.2.77',
        }),
      ({ verdicts }) => verdicts.length >= 4,
    );
    expect(found.verdicts.map((verdict) => verdict.request_id).toSorted()).toEqual(ids.map(String).toSorted());
    expect(found.verdicts.map((verdict) => verdict.source).toSorted()).toEqual([
      'bootstrap-passthrough',
      'bootstrap-passthrough',
      'internal',
      'no-session',
    ]);
  });

  test('a challenged submission never reached the origin', async () => {
    const before = await hitsOf(stack(), '/echo/submit');
    await edge('/echo/submit', {
      method: 'POST',
      body: 'a=b',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(await hitsOf(stack(), '/echo/submit')).toBe(before);
  });
});
