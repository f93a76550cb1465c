/** The command line as it is published: installed from its tarball into an empty folder, without this repository. */
import { execFile, spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { GATEHOUSE_VERSION } from '../../src/contract/version.ts';
import { browse } from '../support/browse.ts';
import { packed, useInstalled } from '../support/packed-packages.ts';
import { eventually, manage, useStack } from '../support/stack.ts';

/**
 * A third is what `apply` checks a file with before it sends anything: the public suffix list, regular expressions as the
 * gate reads them, YAML. The simulator alone has 100 times as much.
 */
const TARBALL_MAX_BYTES = 500_000;

const stack = useStack();
const folder = useInstalled(['cli'], []);

interface Done {
  code: number | string;
  stdout: string;
  stderr: string;
}

/** In the installed folder, with a home of its own. */
function sh(command: string, env: Record<string, string> = {}): Promise<Done> {
  const { GATEHOUSE_API_KEY: _, ...rest } = process.env;
  const variables = { ...rest, XDG_CONFIG_HOME: join(folder(), 'config'), npm_config_offline: 'true', ...env };
  return new Promise((done) => {
    execFile('bash', ['-o', 'pipefail', '-c', command], { cwd: folder(), env: variables }, (error, stdout, stderr) =>
      done({ code: error?.code ?? 0, stdout, stderr: stderr.replaceAll(/^npm warn .*\n/gm, '') }),
    );
  });
}

const asKey = () => ({ GATEHOUSE_API_KEY: stack().apiKey });

test('it is one small file without dependencies', async () => {
  expect(statSync(await packed('cli')).size).toBeLessThan(TARBALL_MAX_BYTES);
  const { stdout } = await sh(`tar -tzf ${await packed('cli')}`);
  expect(stdout.trim().split('\n').toSorted()).toEqual(
    ['LICENSE', 'README.md', 'dist/LICENSES.txt', 'dist/gatehouse.js', 'package.json'].map((path) => `package/${path}`),
  );
  const root = join(folder(), 'node_modules/@gatehouse/cli');
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, unknown>;
  expect([manifest['dependencies'], manifest['optionalDependencies']]).toEqual([undefined, undefined]);
  expect(readFileSync(join(root, 'dist/gatehouse.js'), 'utf8')).not.toContain(resolve('.'));
});

test('npx @gatehouse/cli prints its version and its commands', async () => {
  expect(await sh('npx @gatehouse/cli --version')).toEqual({ code: 0, stdout: `${GATEHOUSE_VERSION}\n`, stderr: '' });
  const { stdout } = await sh('npx @gatehouse/cli --help');
  expect(stdout).toMatch(/^Usage: gatehouse COMMAND$/m);
  expect(stdout).toMatch(/^ {2}verdicts +Lists verdicts/m);
});

test('a command that needs the repository says so in one sentence', async () => {
  const { code, stdout, stderr } = await sh('npx @gatehouse/cli account list');
  expect([code, stdout, stderr.split('\n').length]).toEqual([1, '', 2]);
  expect(stderr).toMatch(/^account list needs the repository of Gatehouse, .* npm run gatehouse -- account list\n$/);
});

test('every line of its README works as printed', async () => {
  const response = await browse(`${stack().edgeUrl}/from-the-readme`);
  const reference = response.headers.get('x-protect-request-id') ?? '';
  await eventually(
    () => manage<{ total: number }>(stack(), '/protect/verdicts', { requestId: reference }),
    ({ total }) => total === 1,
  );
  writeFileSync(join(folder(), 'api-key.txt'), `${stack().apiKey}\n`);
  writeFileSync(join(folder(), 'blocklist.csv'), 'ip,203.0.113.9\n');
  const readme = readFileSync('packages/cli/README.md', 'utf8');
  const block = /^```sh\n([^]*?)^```/m.exec(readme)?.[1] ?? '';
  const lines = block.split('\n').filter((line) => line.startsWith('gatehouse '));
  expect(lines.length).toBeGreaterThan(4);
  for (const line of lines) {
    const typed = `npx ${line}`
      .replace('https://gatehouse.example.com', stack().serviceUrl)
      .replace('REFERENCE', reference);
    const { code, stderr } = await sh(typed);
    const said = line.includes(' login ') ? '' : `Service: ${stack().serviceUrl}\n`;
    expect([line, code, stderr]).toEqual([line, 0, said]);
  }
  expect(statSync(join(folder(), 'config/gatehouse/login.json')).mode & 0o777).toBe(0o600);
});

test('a reader that stops reading ends it without a message', async () => {
  const command = `npx @gatehouse/cli verdicts --all --service ${stack().serviceUrl} | head -n 1`;
  const { code, stdout, stderr } = await sh(command, asKey());
  expect([code, stdout.split('\n').length, stderr]).toEqual([0, 2, '']);
});

test('Ctrl-C ends tail with exit code 0', async () => {
  const bin = join(folder(), 'node_modules/.bin/gatehouse');
  const tail = spawn(bin, ['tail', '--last', '1', '--service', stack().serviceUrl], {
    env: { ...process.env, ...asKey() },
  });
  let [shown, errors] = ['', ''];
  tail.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  tail.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const ended = new Promise((done) => tail.once('close', done));
  await eventually(
    async () => {
      await browse(`${stack().edgeUrl}/while-it-tails`);
      return shown + errors;
    },
    (text) => text !== '',
  );
  tail.kill('SIGINT');
  expect([await ended, errors]).toEqual([0, '']);
});

test.runIf(existsSync('/usr/bin/node'))('Node that is too old is named in one sentence', async () => {
  const { stdout: version } = await sh('/usr/bin/node --version');
  const { code, stdout, stderr } = await sh(`/usr/bin/node node_modules/@gatehouse/cli/dist/gatehouse.js --version`);
  const isOld = Number(/^v(\d+)/.exec(version)?.[1]) < 22;
  expect([code, stdout, stderr]).toEqual(
    isOld
      ? [1, '', `gatehouse needs Node 22 or newer, and this is ${version.trim()}. Update Node.\n`]
      : [0, `${GATEHOUSE_VERSION}\n`, ''],
  );
});
