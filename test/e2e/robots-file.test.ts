/** `/robots.txt` through both Workers: the origin's file with the bot policy, whatever the origin answers. */
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import robotsParser from 'robots-parser';
import { afterAll, expect, test } from 'vitest';
import { runInStack } from '../../src/cli/control.ts';
import { StateDir } from '../../src/cli/state.ts';
import { gatehouse } from '../support/gatehouse.ts';
import { expectRows } from '../support/rows.ts';
import { eventually, manage, openStack } from '../support/stack.ts';
import { quickRules, signalsOf } from './edge-visitor.ts';

/** By host name: what the origin answers for its robots.txt. */
type Answer = { status?: number; type?: string; body?: string | Buffer; isSilent?: boolean; location?: string };
const answers = new Map<string, Answer>();
const asked: { host: string; headers: Record<string, unknown> }[] = [];
const server = createServer((request, response) => {
  const host = String(request.headers['x-forwarded-host']);
  if (request.url !== '/robots.txt') return void response.end('a page');
  asked.push({ host, headers: request.headers });
  const { status = 200, type = 'text/plain', body = '', isSilent, location } = answers.get(host) ?? { status: 404 };
  if (isSilent) return;
  response.writeHead(status, { 'content-type': type, ...(location ? { location } : {}) }).end(body);
});
await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
const stack = await openStack({
  edgeVars: { ...quickRules, ORIGIN_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` },
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

interface Got {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  text: string;
}
/** Each host of its own is a file of its own at the edge. */
function get(host: string, path = '/robots.txt', method = 'GET', more: Record<string, string> = {}): Promise<Got> {
  const { port } = new URL(stack.edgeUrl);
  return new Promise((resolve, reject) => {
    const headers = { host, 'user-agent': 'curl/8', ...more };
    const sent = httpRequest({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(parts).toString() }),
      );
    });
    sent.once('error', reject);
    sent.end();
  });
}
const update = (policy: object) =>
  manage(stack, '/protect/instances/update', { id: stack.instanceId, monitor: false, ...policy });
const allowed = ({ text }: Got, token: string, path: string) =>
  robotsParser('http://x.test/robots.txt', text).isAllowed(`http://x.test${path}`, token);

async function robotsOf(host: string, answer: Answer): Promise<Got> {
  answers.set(host, answer);
  const got = await get(host);
  expect([got.status, got.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
  return got;
}

test('the origin’s rules and the policy are told in one file, which everyone may store for minutes', async () => {
  const got = await robotsOf('plain.test', {
    body: 'User-agent: *\nDisallow: /private/\nSitemap: https://shop.example/map.xml\nNew-Field: kept\n',
  });
  expect(got.text).toContain('Sitemap: https://shop.example/map.xml\nNew-Field: kept\n');
  expect(got.text).toContain('Content-Signal: search=yes, ai-input=no, ai-train=no\n');
  expect(got.text).toContain('Content-Usage: search=y, train-ai=n\n');
  expect([allowed(got, 'GPTBot', '/'), allowed(got, 'bingbot', '/'), allowed(got, 'bingbot', '/private/x')]).toEqual([
    false,
    true,
    false,
  ]);
  expect(got.headers).toMatchObject({ 'cache-control': 'public, max-age=300', 'x-protect-decision': 'allow' });
  expect(got.headers['set-cookie']).toBeUndefined();
});

test('HEAD has the same headers, and a second request asks the origin nothing', async () => {
  await robotsOf('cached.test', { body: 'User-agent: *\nDisallow: /a\n' });
  const before = asked.length;
  const head = await get('cached.test', '/robots.txt', 'HEAD');
  expect([head.status, head.text, head.headers['content-type']]).toEqual([200, '', 'text/plain; charset=utf-8']);
  expect((await get('cached.test')).text).toContain('Disallow: /a');
  expect(asked.length).toBe(before);
});

test('the origin gets nothing of the visitor but their address', async () => {
  await get('quiet.test', '/robots.txt', 'GET', { cookie: 'own=1', 'if-none-match': '"x"', range: 'bytes=0-1' });
  const { headers } = asked.find(({ host }) => host === 'quiet.test')!;
  expect(headers).toMatchObject({ 'user-agent': 'Gatehouse', 'x-protect-decision': 'allow' });
  for (const name of ['cookie', 'if-none-match', 'range']) expect(headers).not.toHaveProperty(name);
});

test('where the origin has no file to read, the policy is told alone', () =>
  expectRows<[string, Answer]>(
    [
      ['404', { status: 404, body: 'no such page', type: 'text/html' }],
      ['410', { status: 410 }],
      ['500', { status: 500, body: 'broken' }],
      ['a redirect', { status: 302, location: 'https://elsewhere.example/robots.txt' }],
      ['a page in place of a file', { type: 'text/html', body: '<!doctype html><p>Disallow: /' }],
      ['a page that says it is text', { body: '\n <html>\nUser-agent: *\nDisallow: /\n' }],
      ['something binary', { body: Buffer.from([0x1f, 0x8b, 0, 0, 0x0a, 0xff]) }],
      ['nothing', {}],
    ],
    async ([name, answer]) => {
      const got = await robotsOf(`${name.replaceAll(/[^a-z0-9]/g, '-')}.test`, answer);
      expect([allowed(got, 'GPTBot', '/'), allowed(got, 'bingbot', '/'), allowed(got, 'unheard-of', '/')]).toEqual([
        false,
        true,
        true,
      ]);
      expect(got.text).not.toContain('<');
    },
  ));

test('an origin that never answers is given up, and the policy is told alone', async () => {
  const got = await robotsOf('silent.test', { isSilent: true });
  expect(allowed(got, 'GPTBot', '/')).toBe(false);
});

test('an origin’s file is read however it is written', () =>
  expectRows<[string, string | Buffer, boolean]>(
    [
      ['CRLF and a byte order mark', '\ufeffUser-agent: *\r\nDisallow: /a\r\n', false],
      ['CR alone', 'User-agent: *\rDisallow: /a\r', false],
      ['latin-1 text', Buffer.from('# caf\xe9\nUser-agent: *\nDisallow: /a\n', 'latin1'), false],
      ['rules before any name', 'Disallow: /a\nUser-agent: other\nDisallow: /\n', true],
    ],
    async ([name, body, isAllowed]) => {
      const got = await robotsOf(`${name.replaceAll(/[^a-z0-9]/g, '-').toLowerCase()}.test`, { body });
      expect(got.text).not.toMatch(/[\r\ufeff]/);
      expect(allowed(got, 'bingbot', '/a')).toBe(isAllowed);
      expect(allowed(got, 'GPTBot', '/b')).toBe(false);
    },
  ));

test('a file of any length is cut at a line, and what is served is no longer than what crawlers read', async () => {
  const body = `User-agent: *\nDisallow: /first\n${'Disallow: /some/path/\n'.repeat(60_000)}`;
  const got = await robotsOf('long.test', { body });
  expect(Buffer.byteLength(got.text)).toBeLessThanOrEqual(512_000);
  expect(got.text.endsWith('\n')).toBe(true);
  expect([allowed(got, 'bingbot', '/first'), allowed(got, 'GPTBot', '/')]).toEqual([false, false]);
});

test('the block that Cloudflare writes is left as it is and said once', async () => {
  const block =
    '# BEGIN Cloudflare Managed content\n\nUser-Agent: *\nContent-signal: search=yes,ai-train=no\nAllow: /\n\nUser-agent: GPTBot\nDisallow: /\n\n# END Cloudflare Managed Content\n';
  const got = await robotsOf('managed.test', { body: `${block}\nUser-agent: *\nDisallow: /own\n` });
  expect(got.text).toContain(block);
  expect(got.text.split('# BEGIN')[1]?.match(/content-signal/gi)).toHaveLength(1);
  expect(allowed(got, 'bingbot', '/own')).toBe(false);
  expect(got.text.match(/User-agent: GPTBot\n/gi)).toHaveLength(1);
});

test('a change of the policy is told at once, an origin that fails then is not asked about again, and its file stays', async () => {
  const host = 'changed.test';
  const before = await robotsOf(host, { body: 'User-agent: *\nDisallow: /a\n' });
  expect(allowed(before, 'ia_archiver', '/b')).toBe(true);
  answers.set(host, { status: 503 });
  await update({ botPolicy: { behaviours: { archive: 'block' } } });
  const after = await eventually(
    () => get(host),
    (got) => allowed(got, 'ia_archiver', '/b') === false,
  );
  expect([after.status, allowed(after, 'bingbot', '/a'), allowed(after, 'bingbot', '/b')]).toEqual([200, false, true]);
});

test('of many requests for a file that is out of date, one asks the origin', async () => {
  const host = 'busy.test';
  const other = 'calm.test';
  await robotsOf(host, { body: 'User-agent: *\nDisallow: /a\n' });
  await robotsOf(other, { body: '' });
  await update({ botPolicy: { behaviours: { agent: 'allow' } } });
  await eventually(
    () => get(other),
    (got) => got.text.includes('ai-input=yes'),
  );
  answers.set(host, { status: 503 });
  const before = asked.length;
  const got = await Promise.all(Array.from({ length: 20 }, () => get(host)));
  expect(got.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(asked.slice(before).filter((one) => one.host === host)).toHaveLength(1);
  for (const one of got) expect(allowed(one, 'bingbot', '/a')).toBe(false);
});

test('paths that a path rule blocks, and bots of your own, are told as they are enforced', async () => {
  const host = 'blocked.test';
  answers.set(host, { body: 'User-agent: *\nAllow: /shop/x\n\nUser-agent: OddBot\nDisallow: /odd\n' });
  const own = { id: 'shopbot', behaviours: ['archive'], patterns: ['ShopBot/'], tokens: ['ShopBot'] };
  const words = ['bots', 'add', '--account', stack.accountId, '--bot', JSON.stringify(own)];
  const control = new StateDir(stack.stateDir).control();
  expect(control && (await runInStack(control, words)).exitCode).toBe(0);
  await update({
    botPolicy: { behaviours: { archive: 'block' } },
    pathRules: [
      { pattern: '/shop/open/**', action: 'inherit' },
      { pattern: '/shop/**', action: 'block' },
      { pattern: '/one', action: 'block' },
    ],
  });
  const got = await eventually(
    () => get(host),
    (file) => allowed(file, 'bingbot', '/shop/x') === false,
  );
  const bing = { ...signalsOf(stack, { from: '157.55.39.1' }), 'user-agent': 'bingbot/2.0' };
  await eventually(
    async () => (await get(host, '/shop/x', 'GET', bing)).status,
    (status) => status === 403,
  );
  for (const path of ['/plain', '/shop/x', '/shop/open/x', '/one', '/one?a=1', '/one/more']) {
    const { status } = await get(host, path, 'GET', bing);
    expect([path, allowed(got, 'bingbot', path)]).toEqual([path, status === 200]);
    expect([path, allowed(got, 'unheard-of', path)]).toEqual([path, status === 200]);
  }
  expect([
    allowed(got, 'ShopBot', '/plain'),
    allowed(got, 'OddBot', '/odd'),
    allowed(got, 'OddBot', '/shop/x'),
  ]).toEqual([false, false, false]);
  await update({ botPolicy: {}, pathRules: [] });
});

test('the command line changes the policy part by part, and prints the file with its difference', async () => {
  const host = 'typed.test';
  const command = async (...words: string[]): Promise<string> => {
    const { exitCode, output } = await gatehouse(['bots', ...words], { state: stack.stateDir });
    expect([words, exitCode]).toEqual([words, 0]);
    return output;
  };
  await robotsOf(host, { body: 'User-agent: *\nDisallow: /a\n' });
  await command('policy', '--preset', 'closed', '--set', 'archive=inherit,feed=allow', '--claimed', 'block');
  await command(
    'policy',
    '--set',
    'archive=',
    '--add-override',
    '{"bot":"gptbot","action":"charge"}',
    '--charge',
    'EUR 1',
    '--licence',
    'https://x.test/l',
  );
  expect(JSON.parse(await command('policy'))).toMatchObject({
    preset: 'closed',
    behaviours: { feed: 'allow' },
    claimed: 'block',
    overrides: [{ bot: 'gptbot', action: 'charge' }],
    charge: { price: 'EUR 1', licenseUrl: 'https://x.test/l' },
  });
  await command('policy', '--remove-override', '1', '--charge', 'none');
  expect(JSON.parse(await command('policy'))).toMatchObject({
    behaviours: { feed: 'allow' },
    overrides: [],
    charge: null,
  });
  // The service hears of the host behind a response.
  const served = await eventually(
    () => command('robots', '--host', host),
    (text) => text.includes('Disallow: /a'),
  );
  const fromEdge = await eventually(
    async () => (await get(host)).text,
    (text) => text === served,
  );
  expect(fromEdge).toMatch(/^User-agent: bingbot$/im);
  const diff = await command('robots', '--host', host, '--diff');
  expect(diff.split('\n').filter((line) => !line.startsWith('+'))).toEqual([' User-agent: *', ' Disallow: /a']);
  for (const [words, told] of [
    [['policy', '--set', 'archive=never'], '"archive=never" is not BEHAVIOUR=ACTION'],
    [['policy', '--remove-override', '7'], 'There is no override 7'],
    [['policy', '--add-override', '{'], '--add-override is not JSON'],
    [['policy', '--charge', 'USD 1'], 'A price needs a licence'],
    [['policy', '--robots', 'perhaps'], '--robots is on or off'],
    [['policy', '--preset', 'mine'], 'botPolicy.preset'],
    [['policy', '--site-key', 'site_none'], 'no such instance'],
  ] as const) {
    const { exitCode, errors } = await gatehouse(['bots', ...words], { state: stack.stateDir });
    expect([words, exitCode]).toEqual([words, 1]);
    expect(errors).toContain(told);
  }
  await command('policy', '--robots', 'off', '--preset', 'search-only', '--set', 'feed=', '--claimed', 'inherit');
  expect(await command('robots', '--host', host)).toBe('User-agent: *\nDisallow: /a\n');
  await update({ botPolicy: {} });
});

test('with a query, in monitor mode or with `serve: false` the origin answers by itself', async () => {
  const host = 'own.test';
  const body = 'User-agent: *\nDisallow: /a\n';
  answers.set(host, { body, type: 'text/plain' });
  await update({ monitor: true });
  await eventually(
    async () => (await get(host)).text,
    (text) => text === body,
  );
  const usage = async () => (await get(host, '/a')).headers['content-usage'];
  await update({ botPolicy: { behaviours: { training: 'block' } } });
  await eventually(usage, (value) => value === 'search=y, train-ai=n');
  await update({ botPolicy: { behaviours: { training: 'block' }, robots: { serve: false } } });
  await eventually(usage, (value) => value === undefined);
  expect((await get(host)).text).toBe(body);
  await update({ botPolicy: {} });
  await eventually(
    async () => (await get(host)).text,
    (text) => text !== body,
  );
});
