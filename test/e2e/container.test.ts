/**
 * The image of `container/Dockerfile`, without a container engine: its statements are read by a parser, the files that
 * it takes are copied as `.dockerignore` says, and its command and its health check run in that copy. Of its build only
 * `apt-get` and `npm ci` are left out: this checkout's packages stand in for what they install. What `npm ci` ends
 * with, `prepare`, runs in the copy, and so does the build of the documentation.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { default as dockerIgnore } from '@balena/dockerignore';
import { DockerfileParser, type Instruction } from 'dockerfile-ast';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { installPackage } from '../../scripts/install-package.ts';
import type { StackFacts } from '../../src/cli/state.ts';
import { eventually } from '../support/eventually.ts';
import { freePortBase } from '../support/ports.ts';

const dockerfile = DockerfileParser.parse(readFileSync('container/Dockerfile', 'utf8'));
const statements = dockerfile.getInstructions();
const all = (keyword: string): Instruction[] => statements.filter((one) => one.getKeyword() === keyword);
const valuesOf = (keyword: string): string[] => all(keyword).map((one) => one.getArgumentsContent() ?? '');
const lineOf = (one: Instruction | undefined): number => one?.getRange().start.line ?? Number.NaN;
/** The words of the exec form. The shell form, with a shell between container and program, is no JSON. */
const wordsOf = (keyword: string): string[] =>
  JSON.parse((valuesOf(keyword)[0] ?? '').replace(/^(?:--\S+ )*CMD /, '')) as string[];

const compose = parse(readFileSync('container/compose.yaml', 'utf8')) as {
  services: Record<string, { build: { context: string; dockerfile: string }; ports: string[]; volumes: string[] }>;
  volumes: Record<string, unknown>;
};

const ignored = dockerIgnore().add(readFileSync('.dockerignore', 'utf8'));
/** Everything that git does not ignore, committed or not. */
function knownToGit(): string[] {
  const words = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const paths = execFileSync('git', words, { encoding: 'utf8' }).split('\0').filter(Boolean);
  // A file that is deleted and not committed yet is still listed.
  return paths.filter((path) => existsSync(path));
}
const taken = (paths: readonly string[]): string[] => paths.filter((path) => !ignored.ignores(path));

test('the image is built on a named release of Node, the one of this repository', () => {
  expect(valuesOf('FROM')).toEqual(['node:24-slim']);
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  expect(devDependencies['node']).toMatch(/^24\./);
});

test('packages of npm are installed, and the stack runs, as a user without privileges', () => {
  const [user] = all('USER');
  expect(valuesOf('USER')).toEqual(['node']);
  const asRoot = all('RUN').filter((run) => lineOf(run) < lineOf(user));
  expect(asRoot.map((run) => /\b(npm|node src)\b/.test(run.getArgumentsContent() ?? ''))).toEqual([false, false]);
  expect(lineOf(all('CMD')[0])).toBeGreaterThan(lineOf(user));
  expect(all('COPY').map(String)).toEqual(['COPY --chown=node:node . .']);
});

test('nothing of the image is a secret, a download or a variable of the build', () => {
  expect(['ADD', 'ARG', 'ENV', 'SECRET'].flatMap(all)).toEqual([]);
});

test('the image takes no secret, no database and nothing that git ignores', () => {
  const kept = [
    '.dev.vars',
    '.dev.vars.production',
    '.env',
    '.gatehouse/secrets.json',
    '.gatehouse/service/d1/db.sqlite',
    '.git/config',
    '.npmrc',
    '.wrangler/state/v3/d1/db.sqlite',
    'gatehouse.sql',
    'keys.json',
    'node_modules/hono/package.json',
    'packages/cli/.dev.vars',
    'packages/cli/node_modules/x/index.js',
    'src/.dev.vars',
  ];
  expect(taken(kept)).toEqual([]);
  const known = new Set(knownToGit());
  const here = readdirSync('.', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/(^|\/)node_modules\/|^\.git\//.test(path));
  expect(taken(here).filter((path) => !known.has(path))).toEqual([]);
});

test('the image and the compose file open the ports of gate and service, the latter to this machine alone', () => {
  expect(valuesOf('EXPOSE')).toEqual(['8800 8801']);
  const [service] = Object.values(compose.services);
  expect(service?.ports).toEqual(['127.0.0.1:8800:8800', '127.0.0.1:8801:8801']);
});

test('the compose file builds this image, and keeps the state where the image has it', () => {
  const [service] = Object.values(compose.services);
  const context = resolve('container', service?.build.context ?? '');
  expect([context, existsSync(resolve(context, service?.build.dockerfile ?? ''))]).toEqual([resolve('.'), true]);
  const [name = '', path] = service?.volumes[0]?.split(':') ?? [];
  expect([Object.keys(compose.volumes), valuesOf('VOLUME')]).toEqual([[name], [path]]);
  expect(path).toBe(`${valuesOf('WORKDIR')[0]}/.gatehouse`);
});

describe('the command of the image, in a copy of what it takes', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-container-'));
  let portBase = 0;
  let output = '';
  let stop = async (): Promise<void> => {};
  const [checker = '', ...checked] = wordsOf('HEALTHCHECK');
  const health = () => spawnSync(checker, checked, { cwd: folder, encoding: 'utf8' });

  beforeAll(async () => {
    for (const path of taken(knownToGit())) cpSync(path, join(folder, path), { recursive: true });
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    const siteTools = 'docs/.vitepress/node_modules';
    installPackage('docs/.vitepress');
    symlinkSync(resolve(siteTools), join(folder, siteTools));
    // What `npm ci` ends with, and what the image runs after it. Both must find everything among the files of the image.
    for (const script of ['prepare', 'build:docs'])
      execFileSync('npm', ['run', '--silent', script], { cwd: folder, stdio: 'pipe' });
    portBase = await freePortBase();
    const [program = '', ...words] = wordsOf('CMD');
    const child = spawn(program, [...words, '--port-base', String(portBase)], { cwd: folder });
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const ended = new Promise((done) => child.once('exit', done));
    stop = async () => {
      child.kill('SIGTERM');
      await ended;
    };
    await eventually(
      async () => child.exitCode !== null || existsSync(join(folder, '.gatehouse/stack.json')),
      (isOver) => isOver,
    );
  });
  afterAll(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  test('starts the stack, with a link into the console and a warning of what it opens', async () => {
    const facts = JSON.parse(readFileSync(join(folder, '.gatehouse/stack.json'), 'utf8')) as StackFacts;
    expect(facts.edgeUrl).toBe(`http://127.0.0.1:${portBase}`);
    const expected = [
      `Open the console: http://localhost:${portBase + 1}/console#link=`,
      `other machines can reach the ports ${portBase} and ${portBase + 1} of this one`,
    ];
    // The file is written a moment before the output is.
    await eventually(
      async () => output,
      (text) => expected.every((part) => text.includes(part)),
    );
  });

  test('gate and service respond at every address, and the way around the gate at none but its own', async () => {
    // Every address of 127.0.0.0/8 is this machine's. A listener on 127.0.0.1 alone refuses the others.
    const at = (port: number) => fetch(`http://127.0.0.2:${port}/__protect/health`).then(({ status }) => status);
    expect(await at(portBase)).toBe(200);
    expect((await fetch(`http://127.0.0.2:${portBase + 1}/health`)).status).toBe(200);
    await expect(at(portBase + 2)).rejects.toThrow('fetch failed');
  });

  test('the documentation is in the image', async () => {
    const page = await fetch(`http://127.0.0.1:${portBase + 1}/docs/tutorial`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Start a site of your own')]);
  });

  test('is healthy while it runs, and not after', async () => {
    expect(health()).toMatchObject({ status: 0, stderr: '' });
    await stop();
    expect(health()).toMatchObject({ status: 1, stderr: expect.stringContaining('stack.json') });
  });
});

test('everything that the image copies by name is there', () => {
  const named = readFileSync('.dockerignore', 'utf8').matchAll(/^!([^*\n]+)$/gm);
  expect([...named].map(([, path = '']) => path).filter((path) => !existsSync(path))).toEqual([]);
});
