/**
 * What a challenged visitor can do: solve for a clearance cookie, send a token in the form, or have a held submission
 * sent.
 */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { browse, type BrowseInit } from '../support/browse.ts';
import { sessionCookieAt } from '../support/edge-session.ts';
import { useStack } from '../support/stack.ts';
import { addRules, cookiesOf, hitsOf, quickRules, signalsOf, solvedToken } from './edge-visitor.ts';

const stack = useStack({ edgeVars: quickRules });
const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0';
const FORM = 'application/x-www-form-urlencoded';

interface Options extends BrowseInit {
  from: string;
}
const headersOf = ({ from, headers }: Options) => ({
  'user-agent': USER_AGENT,
  ...signalsOf(stack(), { from, country: 'DE', asn: '64496' }),
  ...headers,
});
const edge = (path: string, options: Options) =>
  browse(stack().edgeUrl + path, { ...options, headers: headersOf(options) });
const verify = (from: string, token: string) =>
  edge('/__protect/verify', {
    from,
    method: 'POST',
    body: JSON.stringify({ token }),
    headers: { 'content-type': 'application/json' },
  });
const challengeEveryoneIn = (prefix: string) =>
  addRules(stack(), { type: 'ipMask', value: prefix, verdict: 'challenge' });
const token = (from: string, body: Record<string, unknown> = {}) => solvedToken(stack(), headersOf({ from }), body);
const submit = (path: string, from: string, contentType: string, body: string | Uint8Array<ArrayBuffer>) =>
  edge(path, { from, method: 'POST', body, headers: { 'content-type': contentType } });
const formOf = async (answer: Response) => {
  const page = await answer.text();
  const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1]?.replaceAll('&amp;', '&');
  const seal = /name="seal" value="([^"]+)"/.exec(page)?.[1];
  return { action, seal };
};
const digest = (body: string | Uint8Array) => createHash('sha256').update(body).digest('hex');

describe('clearance', () => {
  test('a solution sets a cookie that lifts the challenge for this network and browser only', async () => {
    await challengeEveryoneIn('192.0.2.0/24');
    expect((await edge('/echo', { from: '192.0.2.1' })).status).toBe(403);
    const answer = await verify('192.0.2.1', await token('192.0.2.1'));
    expect(await answer.json()).toMatchObject({ verified: true });
    const setCookie = answer.headers.getSetCookie()[0];
    expect(setCookie).toMatch(/^__Host-protect-clearance=.*; Path=\/; Max-Age=\d+; HttpOnly; Secure; SameSite=Lax$/);
    const cookie = cookiesOf(answer);

    const passed = await edge('/echo', { from: '192.0.2.1', headers: { cookie: `${cookie}; mine=1` } });
    expect(passed.status).toBe(200);
    const seen = (await passed.json()) as { headers: Record<string, string> };
    expect(seen.headers).toMatchObject({ cookie: 'mine=1', 'x-protect-verified': 'true' });
    const neighbour = await edge('/echo', { from: '192.0.2.200', headers: { cookie } });
    expect(neighbour.status).toBe(200);

    await challengeEveryoneIn('198.51.100.0/24');
    expect((await edge('/echo', { from: '198.51.100.1', headers: { cookie } })).status).toBe(403);
    const otherBrowser = await edge('/echo', { from: '192.0.2.1', headers: { cookie, 'user-agent': 'curl/8' } });
    expect(otherBrowser.status).toBe(403);
    const tampered = cookie.slice(0, -4) + 'AAAA';
    expect((await edge('/echo', { from: '192.0.2.1', headers: { cookie: tampered } })).status).toBe(403);
    const none = `__Host-protect-clearance=${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`;
    expect((await edge('/echo', { from: '192.0.2.1', headers: { cookie: none } })).status).toBe(403);
  });

  test('the clearance accepts the visitor’s other address family once, from the same network operator', async () => {
    await challengeEveryoneIn('2001:db8::/32');
    const answer = await verify('192.0.2.5', await token('192.0.2.5'));
    const cookie = cookiesOf(answer);
    const sixth = await edge('/echo', { from: '2001:db8:1:1::5', headers: { cookie } });
    expect(sixth.status).toBe(200);
    const learned = cookiesOf(sixth);
    expect(learned).toContain('__Host-protect-clearance=');
    expect((await edge('/echo', { from: '2001:db8:1:1::9', headers: { cookie: learned } })).status).toBe(200);
    expect((await edge('/echo', { from: '192.0.2.5', headers: { cookie: learned } })).status).toBe(200);
    expect((await edge('/echo', { from: '2001:db8:2:2::5', headers: { cookie: learned } })).status).toBe(403);
    expect((await edge('/echo', { from: '2001:db8:2:2::5', headers: { cookie } })).status).toBe(403);
  });

  test('a token gives clearance once: of 20 parallel calls exactly one succeeds', async () => {
    const bought = await token('192.0.2.6');
    const answers = await Promise.all(Array.from({ length: 20 }, () => verify('192.0.2.6', bought)));
    const verdicts = await Promise.all(answers.map((answer) => answer.json() as Promise<{ verified: boolean }>));
    expect(verdicts.filter(({ verified }) => verified)).toHaveLength(1);
  });

  test('a token of a form gives no clearance', async () => {
    for (const action of ['contact', undefined]) {
      const answer = await verify('192.0.2.7', await token('192.0.2.7', { action }));
      expect(await answer.json()).toMatchObject({ verified: false });
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
  });
});

describe('a submission with a token', () => {
  test.each<[string, (value: string) => [contentType: string, body: string]]>([
    ['urlencoded', (value) => [FORM, `name=J%F6rg&captcha-response=${encodeURIComponent(value)}&x=a+b`]],
    [
      'multipart',
      (value) => [
        'multipart/form-data; boundary=XX',
        `--XX\r\nContent-Disposition: form-data; name="captcha-response"\r\n\r\n${value}\r\n--XX\r\nContent-Disposition: form-data; name="f"; filename="a.bin"\r\nContent-Type: application/octet-stream\r\n\r\n\u0000\u0001\r\n--XX--\r\n`,
      ],
    ],
    ['JSON', (value) => ['application/json', JSON.stringify({ 'captcha-response': value, n: 1 })]],
  ])('a %s body is verified in place and reaches the origin once, intact', async (name, make) => {
    const path = `/echo/form-${name}`;
    const [contentType, body] = make(JSON.stringify({ token: await token('192.0.2.20', { action: 'form' }) }));
    const answer = await submit(path, '192.0.2.20', contentType, body);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ method: 'POST', bodySha256: digest(body), bodyLength: body.length });
    expect(await hitsOf(stack(), path)).toBe(1);
    expect((await submit(path, '192.0.2.20', contentType, body)).status).toBe(403);
    expect(await hitsOf(stack(), path)).toBe(1);
  });

  test('a bare token is accepted, a wrong one is challenged again', async () => {
    const bare = await token('192.0.2.21');
    expect((await submit('/echo/bare', '192.0.2.21', FORM, `captcha-response=${bare}`)).status).toBe(200);
    expect((await submit('/echo/bare', '192.0.2.21', FORM, 'captcha-response=nonsense')).status).toBe(403);
  });

  test('the site’s backend can still verify a token that the edge has spent', async () => {
    const shared = await token('192.0.2.22', { action: 'form' });
    expect((await submit('/echo/shared', '192.0.2.22', FORM, `captcha-response=${shared}`)).status).toBe(200);
    const question = JSON.stringify({ secret: stack().secretKey, token: shared });
    const ask = async () => {
      const answer = await fetch(`${stack().serviceUrl}/siteverify`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: question,
      });
      return ((await answer.json()) as { verified: boolean }).verified;
    };
    expect([await ask(), await ask()]).toEqual([true, false]);
  });

  test('a submission with a token that is not challenged is forwarded unchanged', async () => {
    await addRules(stack(), { type: 'ip', value: '192.0.2.99', verdict: 'allow' });
    const answer = await submit('/echo/free', '192.0.2.99', FORM, 'captcha-response=nonsense');
    expect(await answer.json()).toMatchObject({ bodySha256: digest('captcha-response=nonsense') });
  });
});

describe('a held submission', () => {
  const own = { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'document' };
  const hold = (path: string, from: string, headers: Record<string, string>, body: string | Uint8Array<ArrayBuffer>) =>
    edge(path, { from, method: 'POST', body, headers: { ...own, ...headers } });
  test('reaches the origin once, with its method, query, content type, Referer and body', async () => {
    const body = Buffer.from(
      `--B\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\n\0\xff\r\n--B--\r\n`,
      'latin1',
    );
    const type = 'multipart/form-data; boundary=B';
    const referer = `${stack().edgeUrl}/form?step=2`;
    const challenged = await hold('/echo/held?a=1&b=2', '192.0.2.30', { 'content-type': type, referer }, body);
    expect(challenged.status).toBe(403);
    const { action, seal } = await formOf(challenged);
    const solved = await verify('192.0.2.30', await token('192.0.2.30'));
    const cookie = cookiesOf(solved);
    const send = () => hold(action!, '192.0.2.30', { 'content-type': 'text/plain', cookie }, `seal=${seal!}\r\n`);

    const sent = await send();
    expect(sent.status).toBe(200);
    const seen = (await sent.json()) as { headers: Record<string, string> };
    expect(seen).toMatchObject({ method: 'POST', path: '/echo/held', query: 'a=1&b=2', bodySha256: digest(body) });
    expect(seen.headers).toMatchObject({ 'content-type': type, referer });
    expect(await hitsOf(stack(), '/echo/held')).toBe(1);

    const again = await Promise.all([send(), send(), send()]);
    expect(again.map((answer) => answer.status)).toEqual([409, 409, 409]);
    expect(await hitsOf(stack(), '/echo/held')).toBe(1);
  });

  test('returns to its own address, and other plain text passes as it is', async () => {
    const challenged = await hold('/echo/next?a=1', '192.0.2.34', { 'content-type': FORM }, 'a=b');
    expect((await formOf(challenged)).action).toBe('/echo/next?a=1');
    await addRules(stack(), { type: 'ip', value: '192.0.2.34', verdict: 'allow' });
    for (const text of ['a=b\r\n', 'seal', 'x'.repeat(100_000)]) {
      const posted = await (await hold('/echo/next?a=1', '192.0.2.34', { 'content-type': 'text/plain' }, text)).json();
      expect(posted).toMatchObject({ method: 'POST', query: 'a=1', bodySha256: digest(text) });
    }
    const large = 'x'.repeat(3_000_000);
    for (const headers of [
      { 'content-type': 'text/plain;charset=UTF-8' },
      { 'content-type': 'text/plain', 'sec-fetch-mode': 'cors' },
      { 'content-type': 'text/plain', 'sec-fetch-mode': 'navigate' },
      { 'content-type': 'text/plain', origin: 'https://app.example' },
    ]) {
      expect((await hold('/echo/next', '192.0.2.34', headers, large)).status).toBe(200);
    }
  });

  test('whose path begins like a host name returns to the same host', async () => {
    const challenged = await hold('//evil.test/x', '192.0.2.35', { 'content-type': FORM }, 'a=b');
    const { action } = await formOf(challenged);
    expect(new URL(action!, 'https://site.test/')).toMatchObject({ host: 'site.test', pathname: '//evil.test/x' });
  });

  test('is not sent without a solution, from another site, or after a change', async () => {
    const challenged = await hold('/echo/guarded', '192.0.2.31', { 'content-type': FORM }, 'a=b');
    const { action, seal } = await formOf(challenged);
    const body = `seal=${seal!}`;
    expect((await hold(action!, '192.0.2.31', { 'content-type': 'text/plain' }, body)).status).toBe(403);
    const cookie = cookiesOf(await verify('192.0.2.31', await token('192.0.2.31')));
    const attempt = (from: string, headers: Record<string, string>, text: string) =>
      hold(action!, from, { 'content-type': 'text/plain', cookie, ...headers }, text);
    expect((await attempt('192.0.2.31', { 'sec-fetch-site': 'cross-site' }, body)).status).toBe(400);
    expect((await attempt('203.0.113.1', {}, body)).status).toBe(400);
    expect((await attempt('192.0.2.31', {}, `${body.slice(0, -6)}AAAAAA`)).status).toBe(400);
    expect((await attempt('192.0.2.31', { 'user-agent': 'other' }, body)).status).toBe(400);
    expect(await hitsOf(stack(), '/echo/guarded')).toBe(0);
    expect((await attempt('192.0.2.31', {}, body)).status).toBe(200);
  });

  test('a cross-site submission is not held; the page asks to send it again', async () => {
    const answer = await hold(
      '/echo/cross',
      '192.0.2.32',
      { 'content-type': FORM, 'sec-fetch-site': 'cross-site' },
      'a=b',
    );
    expect(answer.status).toBe(403);
    expect((await formOf(answer)).seal).toBeUndefined();
  });

  test('a submission above 1 MiB is refused with a message', async () => {
    const answer = await hold('/echo/large', '192.0.2.33', { 'content-type': FORM }, `a=${'x'.repeat(1_100_000)}`);
    expect(answer.status).toBe(413);
    expect((await answer.text()).length).toBeGreaterThan(500);
  });
});

describe('sessions', () => {
  test('a session opens a json path, also behind bad cookies of its name, but not from another network', async () => {
    const cookie = await sessionCookieAt(stack().edgeUrl, headersOf({ from: '198.18.0.1' }));
    expect(cookie).toMatch(/^protect_session=[^|]+\|[^;]+$/);
    const call = await edge('/api/time', { from: '198.18.0.1', headers: { cookie } });
    expect([call.status, call.headers.get('x-protect-status')]).toEqual([200, null]);
    // A neighbouring host of the site's domain can set cookies of the same name in front of the good one.
    const tossed = `${'protect_session=x|a.b.c; '.repeat(3)}protect_session=; protect_session=%; ${cookie}`;
    expect((await edge('/api/time', { from: '198.18.0.1', headers: { cookie: tossed } })).status).toBe(200);
    const stolen = await edge('/api/time', { from: '198.18.9.1', headers: { cookie } });
    expect([stolen.status, stolen.headers.get('x-protect-status')]).toEqual([401, 'invalid-session']);
  });

  test('calls to the edge’s own addresses must come from the site’s own pages and be small and flat', async () => {
    const post = (headers: Record<string, string | null>, body = '{}') =>
      edge('/__protect/session', { from: '198.18.0.2', method: 'POST', body, headers });
    expect((await post({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await post({ origin: 'https://evil.test', 'sec-fetch-site': null })).status).toBe(403);
    expect((await post({}, `"${'x'.repeat(20_000)}"`)).status).toBe(413);
    // Deep enough that it can be read and not written again.
    const nested = `{"action":"clearance","x":${'['.repeat(8000)}${']'.repeat(8000)}}`;
    for (const path of ['session', 'challenge', 'solution']) {
      const options = { from: '198.18.0.2', method: 'POST', body: nested };
      expect([path, (await edge(`/__protect/${path}`, options)).status]).toEqual([path, 400]);
    }
    expect((await edge('/__protect/nothing', { from: '198.18.0.2' })).status).toBe(404);
  });
});
