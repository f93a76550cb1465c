/**
 * Paths spelled so that the gate reads one page and the origin another. Each origin is asked directly first, so that
 * the test knows what the path opens there. The origins: one that reads paths as well-known servers do, and those
 * servers themselves where the machine has them.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundleWorker } from '../../src/cli/worker-config.ts';
import { startUpstream, type Upstream } from '../e2e/edge-upstream.ts';
import { freePortBase } from '../support/ports.ts';
import { type RawWorker, startRawWorker } from '../support/raw-workerd.ts';
import { eventually } from '../support/stack.ts';
import { serverReadings } from '../support/server-readings.ts';

const SECRET_PAGE = 'the admin page';
const ROBOT = 'challengeme';

/** Every one of them opens `/admin/` on some server. */
const SPELLINGS = [
  '/x//..%2fadmin/',
  '/x/y//..%2f..%2fadmin/',
  '/x%2f..%2fadmin/',
  '/x/..%2fadmin/',
  '/x/%2e%2e%2fadmin/',
  '/x//..;/admin/',
  '/x/;/..;/admin/',
  '/x/..;a=b/admin/',
  '/;a/admin/',
  '/admin;a/',
  '/.well-known//..;/admin/',
  '/.well-known//..%2fadmin/',
  '/x/..%5cadmin/',
  '/x/..%5c/..%2fx/admin/',
  '/x/..%255cadmin/',
  '/x/..%252fadmin/',
  '/x//..%252f/admin/',
  '/%2561dmin/',
  '/%u0061dmin/',
  '/x/..%c0%afadmin/',
  '/x/%c0%ae%c0%ae/admin/',
  '/x/..%e0%80%afadmin/',
  '/admin%00/',
  '/admin/%3fx',
  '/ADMIN/',
  '/%41dmin/',
  '//x/admin/',
  '//x//admin/',
];

interface Origin {
  name: string;
  /** Serves `SECRET_PAGE` at `/admin/`. */
  start: (dir: string, port: number) => ChildProcess | Promise<Server>;
}

const reading: Origin = {
  name: 'an origin that reads paths in every known way',
  async start(_, port) {
    const server = createServer(({ url }, response) => {
      const isSecret = serverReadings(url ?? '/').some((path) => path.startsWith('/admin/'));
      response.end(isSecret ? SECRET_PAGE : 'another page');
    });
    await new Promise<void>((ready) => server.listen(port, '127.0.0.1', ready));
    return server;
  },
};

function siteIn(dir: string): void {
  for (const folder of ['x/y', 'admin', '.well-known']) mkdirSync(join(dir, folder), { recursive: true });
  writeFileSync(join(dir, 'index.html'), 'another page');
  writeFileSync(join(dir, 'admin', 'index.html'), SECRET_PAGE);
}

const php: Origin = {
  name: 'PHP',
  start(dir, port) {
    siteIn(dir);
    return spawn('php', ['-S', `127.0.0.1:${port}`, '-t', dir], { stdio: 'ignore' });
  },
};

const nginx: Origin = {
  name: 'nginx',
  start(dir, port) {
    siteIn(dir);
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    writeFileSync(
      join(dir, 'nginx.conf'),
      `daemon off; master_process off; pid ${dir}/pid; error_log ${dir}/error.log;
events {}
http { access_log off; ${temporary.map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')}
server { listen 127.0.0.1:${port}; root ${dir}; } }`,
    );
    return spawn('nginx', ['-p', dir, '-e', join(dir, 'error.log'), '-c', join(dir, 'nginx.conf')], {
      stdio: 'ignore',
    });
  },
};

const APACHE_MODULES = '/usr/lib/apache2/modules';
const apache: Origin = {
  name: 'Apache',
  start(dir, port) {
    siteIn(dir);
    const modules = ['mpm_event', 'authz_core', 'dir'].map(
      (name) => `LoadModule ${name}_module ${APACHE_MODULES}/mod_${name}.so`,
    );
    writeFileSync(
      join(dir, 'apache.conf'),
      `ServerRoot ${dir}\nServerName site.test\nListen 127.0.0.1:${port}\nPidFile ${dir}/pid\n` +
        `ErrorLog ${dir}/error.log\nUser nobody\nGroup nogroup\n${modules.join('\n')}\n` +
        `DocumentRoot ${dir}\nDirectoryIndex index.html\nAllowEncodedSlashes On\n`,
    );
    spawnSync('chmod', ['-R', 'a+rX', dir]);
    return spawn('apache2', ['-d', dir, '-f', join(dir, 'apache.conf'), '-DFOREGROUND'], { stdio: 'ignore' });
  },
};

const TOMCAT_HOME = process.env['CATALINA_HOME'] ?? '/usr/share/tomcat10';
const tomcat: Origin = {
  name: 'Tomcat',
  start(dir, port) {
    siteIn(join(dir, 'webapps', 'ROOT'));
    for (const folder of ['conf', 'temp', 'logs']) mkdirSync(join(dir, folder));
    const descriptors = join(TOMCAT_HOME, 'etc', 'web.xml');
    if (existsSync(descriptors)) cpSync(descriptors, join(dir, 'conf', 'web.xml'));
    writeFileSync(
      join(dir, 'conf', 'server.xml'),
      `<Server port="-1"><Service name="Catalina">
<Connector address="127.0.0.1" port="${port}" encodedSolidusHandling="decode" allowBackslash="true"/>
<Engine name="Catalina" defaultHost="localhost"><Host name="localhost" appBase="webapps"/></Engine>
</Service></Server>`,
    );
    const classes = ['bootstrap.jar', 'tomcat-juli.jar'].map((file) => join(TOMCAT_HOME, 'bin', file)).join(':');
    const homes = [`-Dcatalina.home=${TOMCAT_HOME}`, `-Dcatalina.base=${dir}`];
    return spawn('java', ['-cp', classes, ...homes, 'org.apache.catalina.startup.Bootstrap', 'start'], {
      stdio: 'ignore',
    });
  },
};

const has = (program: string, ...flags: string[]): boolean => spawnSync(program, flags).status === 0;
const origins = [
  reading,
  ...(has('php', '--version') ? [php] : []),
  ...(has('nginx', '-v') ? [nginx] : []),
  ...(has('apache2', '-v') && existsSync(APACHE_MODULES) ? [apache] : []),
  ...(has('java', '-version') && existsSync(join(TOMCAT_HOME, 'bin', 'bootstrap.jar')) ? [tomcat] : []),
];

/** The path as typed: neither `fetch` nor a URL parser sees it before it is sent. */
function ask(
  port: number,
  path: string,
  headers: Record<string, string> = {},
): Promise<[status: number, body: string]> {
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve([response.statusCode ?? 0, text]));
    });
    call.once('error', reject);
    call.end();
  });
}

let upstream: Upstream;
let source: string;
beforeAll(async () => {
  source = await bundleWorker('src/edge/index.ts');
  upstream = await startUpstream();
  upstream.setPolicy({ pathRules: [{ pattern: '/admin/**', action: 'block' }] });
  await upstream.setRules([{ type: 'userAgent', value: ROBOT, verdict: 'challenge' }]);
});
afterAll(() => upstream?.stop());

describe.each(origins)('in front of $name', ({ start }) => {
  let dir: string;
  let origin: Awaited<ReturnType<Origin['start']>>;
  let port: number;
  let edge: RawWorker;
  let gate: number;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'gatehouse-paths-'));
    port = await freePortBase();
    origin = await start(dir, port);
    await eventually(
      () => ask(port, '/admin/').catch(() => [0, ''] as const),
      ([, body]) => body === SECRET_PAGE,
    );
    edge = await startRawWorker({
      source,
      compatibilityDate: '2026-10-01',
      vars: {
        SERVICE_URL: upstream.url,
        ORIGIN_URL: `http://127.0.0.1:${port}`,
        CLIENT_JWT: upstream.clientJwt,
        RULES_POLL_SECONDS: '1',
      },
    });
    gate = Number(new URL(edge.url).port);
    await eventually(
      () => ask(gate, '/admin/'),
      ([status]) => status === 403,
    );
  });
  afterAll(async () => {
    await edge?.stop();
    if ('kill' in origin) origin.kill('SIGTERM');
    else origin.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test('no spelling of a blocked path opens it', async () => {
    let opened = 0;
    for (const path of SPELLINGS) {
      const [, direct] = await ask(port, path);
      if (direct === SECRET_PAGE) opened++;
      const [status, body] = await ask(gate, path);
      expect([path, body.includes(SECRET_PAGE)]).toEqual([path, false]);
      if (direct === SECRET_PAGE) expect([path, status]).toEqual([path, 403]);
    }
    expect(opened).toBeGreaterThan(0);
  });

  test('no spelling of a page passes as a file that is never challenged', async () => {
    for (const path of ['/.well-known//..;/admin/', '/.well-known//..%2fx/', '/.well-known/%u002e%u002e/x/']) {
      const [status] = await ask(gate, path, { 'user-agent': ROBOT });
      expect([path, status]).toEqual([path, 403]);
    }
  });

  test('the site’s other pages open', async () => {
    expect(await ask(gate, '/')).toEqual([200, 'another page']);
  });
});
