/**
 * The PHP and nginx snippets of `docs/origin-lockdown.md`, run by PHP and nginx where the machine has them: a request
 * signed by the edge is accepted, any other is refused. `unit/edge/origin-lockdown` runs the Node snippet.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HmacSha256 } from '../../src/bytes/hmac-sha256.ts';
import { signForOrigin } from '../../src/edge/origin/origin-signature.ts';
import { expectRows } from '../support/rows.ts';
import { eventually } from '../support/stack.ts';
import { stackNow } from '../support/clock.ts';

const NJS_MODULE = '/usr/lib/nginx/modules/ngx_http_js_module.so';
const guide = readFileSync('docs/origin-lockdown.md', 'utf8');
const key = Buffer.alloc(32, 5);
const keys = { 'k-1': key.toString('base64url') };
const snippet = (heading: string, language: string): string => {
  const section = guide.slice(guide.indexOf(`## ${heading}`));
  return new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(section)![1]!;
};

interface Origin {
  name: string;
  start: (dir: string, port: number) => ChildProcess;
}

const php: Origin = {
  name: 'PHP',
  start(dir, port) {
    const map = Object.entries(keys).map(([kid, value]) => `'${kid}' => '${value}'`);
    writeFileSync(
      join(dir, 'index.php'),
      `<?php\n${snippet('PHP', 'php')}\nhttp_response_code(came_through_the_gate([${map.join(', ')}]) ? 200 : 403);`,
    );
    return spawn('php', ['-S', `127.0.0.1:${port}`, join(dir, 'index.php')], { stdio: 'ignore' });
  },
};

const nginx: Origin = {
  name: 'nginx',
  start(dir, port) {
    const code = snippet('nginx', 'js').replace(/const keys = \{.*\};/, `const keys = ${JSON.stringify(keys)};`);
    writeFileSync(join(dir, 'gate.js'), code);
    const server = snippet('nginx', 'nginx')
      .replace('server {', `server { listen 127.0.0.1:${port};`)
      .replace(/proxy_pass [^;]+;/, 'return 200;');
    mkdirSync(join(dir, 'logs'));
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${dir}/${name};`,
    );
    writeFileSync(
      join(dir, 'nginx.conf'),
      `load_module ${NJS_MODULE};
daemon off; master_process off; pid ${dir}/pid; error_log ${dir}/error.log;
events {}
http { access_log off; js_path ${dir}; ${paths.join(' ')}
${server}
}`,
    );
    return spawn('nginx', ['-p', dir, '-e', join(dir, 'error.log'), '-c', join(dir, 'nginx.conf')], {
      stdio: 'ignore',
    });
  },
};

const has = (program: string, ...flags: string[]): boolean => spawnSync(program, flags).status === 0;
const installed = [
  ...(has('php', '--version') ? [php] : []),
  ...(has('nginx', '-v') && existsSync(NJS_MODULE) ? [nginx] : []),
];

test('the guide has a snippet for each', () => {
  expect(snippet('PHP', 'php')).toContain('hash_equals');
  expect(snippet('nginx', 'js')).toContain('createHmac');
});

describe.each(installed)('$name', ({ start }) => {
  let dir: string;
  let child: ChildProcess;
  let port: number;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'gatehouse-lockdown-'));
    port = await freePort();
    child = start(dir, port);
    const answers = () => statusOf(port, 'GET', '/', {}).catch(() => 0);
    await eventually(answers, (status) => status === 403);
  });
  afterAll(() => {
    child?.kill('SIGTERM');
    rmSync(dir, { recursive: true, force: true });
  });

  const facts = (changes: object = {}) => ({
    timestamp: Math.floor(stackNow() / 1000),
    method: 'POST',
    target: '/order/%C3%BC?x=1&y=a%2Fb',
    requestId: 'r-1',
    decision: 'allow',
    verified: 'true',
    ip: '192.0.2.1',
    ...changes,
  });
  /** Signs the request `signed` as the gate does and sends it with the changes in `sent`. */
  async function send(signed = facts(), sent: object = {}, kid = 'k-1'): Promise<number> {
    const { method, target, requestId, decision, verified, ip } = { ...signed, ...sent };
    return statusOf(port, method, target, {
      'x-protect-signature': signForOrigin(new HmacSha256(key), kid, signed),
      'x-protect-request-id': requestId,
      'x-protect-decision': decision,
      'x-protect-verified': verified,
      ...(ip === '' ? {} : { 'x-forwarded-for': ip }),
    });
  }

  test('accepts a request that came through the gate', async () => {
    expect(await send()).toBe(200);
    expect(await send(facts({ ip: '', method: 'GET', target: '/' }))).toBe(200);
  });

  test('refuses a signature for another request', () =>
    expectRows<[string, object]>(
      [
        ['another path', { target: '/admin' }],
        ['another query', { target: '/order/%C3%BC?x=2&y=a%2Fb' }],
        ['another method', { method: 'GET' }],
        ['another request id', { requestId: 'r-2' }],
        ['another decision', { decision: 'challenge' }],
        ['another verification', { verified: 'false' }],
        ['another visitor', { ip: '192.0.2.2' }],
      ],
      async ([, sent]) => {
        expect(await send(facts(), sent)).toBe(403);
      },
    ));

  test('refuses an old signature, an unknown key id and a missing signature', async () => {
    expect(await send(facts({ timestamp: Math.floor(stackNow() / 1000) - 301 }))).toBe(403);
    expect(await send(facts(), {}, 'k-2')).toBe(403);
    expect(await statusOf(port, 'GET', '/', {})).toBe(403);
    expect(await statusOf(port, 'GET', '/', { 'x-protect-signature': 't=1&kid[]=k-1,v1[]=' })).toBe(403);
  });
});

function statusOf(port: number, method: string, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode ?? 0));
    });
    sent.once('error', reject);
    sent.end();
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
}
