/**
 * The GitHub Action's script, with the environment that GitHub gives it, against a running service. npm installs the
 * packed command line from a registry of this process.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { GATEHOUSE_VERSION } from '../../src/contract/version.ts';
import { packed } from '../support/packed-packages.ts';
import { manage, useStack } from '../support/stack.ts';

interface Action {
  inputs: Record<string, { default?: string; required?: boolean }>;
  runs: { using: string; steps: { run?: string; uses?: string; env: Record<string, string> }[] };
}

const stack = useStack();
const root = mkdtempSync(join(tmpdir(), 'gatehouse-action-'));
/** The checkout. */
const dir = join(root, 'checkout');
const temporary = join(root, 'temporary');
for (const folder of [dir, temporary]) mkdirSync(folder);
afterAll(() => rmSync(root, { recursive: true, force: true }));
const { inputs, runs } = parse(readFileSync('action/action.yml', 'utf8')) as Action;
const step = runs.steps.find(({ run }) => run !== undefined);

const installed: string[] = [];
let tarball: Buffer;
const registry = createServer((request, response) => {
  if (request.url?.endsWith('.tgz')) return void response.end(tarball);
  installed.push(`${request.url} ${JSON.stringify(request.headers).includes(stack().apiKey)}`);
  const bin = { gatehouse: 'dist/gatehouse.js' };
  const published = {
    name: '@gatehouse/cli',
    version: GATEHOUSE_VERSION,
    bin,
    dist: { tarball: `${registryUrl()}/cli.tgz` },
  };
  const answer = { name: '@gatehouse/cli', 'dist-tags': {}, versions: { [GATEHOUSE_VERSION]: published } };
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(answer));
});
const registryUrl = () => `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
beforeAll(async () => {
  tarball = readFileSync(await packed('cli'));
  await new Promise<void>((listening) => registry.listen(0, '127.0.0.1', listening));
});
afterAll(() => registry.close());

interface Ran {
  status: number | null;
  log: string;
  summary: string;
  outputs: string;
}

/** `event`: as in the workflow's `on`. `given`: inputs of the action. */
async function onEvent(event: string, given: Record<string, string>, branch = 'trunk'): Promise<Ran> {
  const [summary, outputs] = [join(root, 'summary'), join(root, 'outputs')];
  for (const path of [summary, outputs]) writeFileSync(path, '');
  const env: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    GITHUB_ACTION_PATH: resolve('action'),
    GITHUB_EVENT_NAME: event,
    GITHUB_STEP_SUMMARY: summary,
    GITHUB_OUTPUT: outputs,
    GITHUB_REF: `refs/heads/${branch}`,
    RUNNER_TEMP: temporary,
    HOME: root,
    npm_config_registry: registryUrl(),
  };
  for (const [name, value] of Object.entries(step!.env)) {
    const input = /^\$\{\{ inputs\.([\w-]+) \}\}$/.exec(value)?.[1] ?? '';
    env[name] = name === 'GATEHOUSE_DEFAULT_BRANCH' ? 'trunk' : (given[input] ?? inputs[input]?.default ?? '');
  }
  const child = spawn('bash', ['-c', step!.run ?? ''], { cwd: dir, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  child.stdout.on('data', (chunk: Buffer) => (log += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const status = await new Promise<number | null>((ended) => child.on('close', ended));
  return { status, log, summary: readFileSync(summary, 'utf8'), outputs: readFileSync(outputs, 'utf8') };
}

function file(text: string): void {
  writeFileSync(join(dir, 'gatehouse.yaml'), text);
}

const emails = async () => {
  const headers = { authorization: `Bearer ${stack().apiKey}` };
  const users = (await (await fetch(`${stack().serviceUrl}/users/get`, { headers })).json()) as { email: string }[];
  return users.map(({ email }) => email);
};

test('a pull request gets the plan in its summary, and a push applies the file', async () => {
  const given = { service: stack().serviceUrl, 'api-key': stack().apiKey };
  file('version: 1\nusers: [{ email: new@x.example, name: "<b>&::error::", role: viewer }]\n');
  const planned = await onEvent('pull_request', given);
  expect(planned).toMatchObject({ status: 0, outputs: expect.stringMatching(/^plan=[0-9a-f]{16}\nchanged=true\n$/) });
  expect(planned.summary).toContain(
    '### gatehouse plan\n\n<pre>\nusers\n  + new@x.example  name "&lt;b&gt;&amp;::error::"',
  );
  expect(planned.log).toMatch(/^::stop-commands::(stop-\d+)\n[^]*1 to create[^]*\n::\1::\n$/);
  expect(await emails()).not.toContain('new@x.example');

  const applied = await onEvent('push', given);
  expect(applied).toMatchObject({ status: 0, outputs: expect.stringContaining('changed=true') });
  expect(applied.summary).toContain('### gatehouse apply');
  expect(applied.summary).toContain('Done: 1 changes.');
  expect(await emails()).toContain('new@x.example');

  const again = await onEvent('push', given);
  expect(again).toMatchObject({ status: 0, outputs: 'plan=\nchanged=false\n' });
  await manage(stack(), '/users/delete', { email: 'new@x.example' });
  const elsewhere = await onEvent('push', given, 'trunk-2');
  expect(elsewhere).toMatchObject({ status: 0, summary: expect.stringContaining('### gatehouse plan') });
  const drifted = await onEvent('schedule', given);
  expect(drifted).toMatchObject({ status: 0, outputs: expect.stringContaining('changed=true') });
  expect(await emails()).not.toContain('new@x.example');
  for (const ran of [planned, applied, again, elsewhere, drifted]) {
    expect(ran.log + ran.summary + ran.outputs).not.toContain(stack().apiKey);
  }
});

test('the program is of the version of the action, and the checkout does not choose it', async () => {
  const evil = join(dir, 'node_modules/.bin');
  mkdirSync(evil, { recursive: true });
  const marker = join(root, 'executed');
  for (const name of ['gatehouse', 'npm', 'node'])
    writeFileSync(join(evil, name), `#!/bin/sh\ntouch ${marker}\n`, { mode: 0o755 });
  // No program listens on this port.
  for (const name of ['.npmrc', 'npmrc']) writeFileSync(join(dir, name), '@gatehouse:registry=http://127.0.0.1:1\n');
  writeFileSync(join(dir, 'package.json'), '{"devEngines":{"runtime":{"name":"none","onFail":"error"}}}');
  file('version: 1\n');
  installed.length = 0;
  const ran = await onEvent('pull_request', { service: stack().serviceUrl, 'api-key': stack().apiKey });
  expect(ran).toMatchObject({ status: 0, outputs: 'plan=\nchanged=false\n' });
  expect(installed.map((asked) => asked.toLowerCase())).toEqual(['/@gatehouse%2fcli false']);
  expect(() => readFileSync(marker)).toThrow('ENOENT');
  expect(readdirSync(temporary)).toEqual([]);
  const { status, log } = await onEvent('pull_request', {
    service: stack().serviceUrl,
    'api-key': stack().apiKey,
    version: '9.9.9',
  });
  expect([status, log]).toEqual([1, expect.stringContaining('::error::@gatehouse/cli@9.9.9 could not be installed.')]);
});

test('a rejected file fails the job, and its summary has the problems', async () => {
  file('version: 1\nusers: nobody\n');
  const { status, log, summary } = await onEvent('pull_request', {
    service: stack().serviceUrl,
    'api-key': stack().apiKey,
  });
  expect(status).toBe(1);
  expect(log).toContain('::error::gatehouse plan failed.');
  expect(summary).toContain('gatehouse.yaml:2:8  users must be a list');
});

test('a pull request from a fork, which has no secrets, fails with one sentence', async () => {
  const { status, log } = await onEvent('pull_request', { service: stack().serviceUrl });
  expect({ status, log }).toEqual({
    status: 1,
    log: '::error::The input api-key is empty. Set it to a secret of the repository. Pull requests from forks have no secrets.\n',
  });
});

test('inputs are words and never commands', async () => {
  const marker = join(root, 'executed');
  const hostile = `$(touch ${marker}) \`touch ${marker}\`; touch ${marker}`;
  file('version: 1\nusers: []\n');
  const given = { service: stack().serviceUrl, 'api-key': stack().apiKey };
  for (const name of ['file', 'flags', 'command', 'service', 'version']) {
    expect((await onEvent('pull_request', { ...given, [name]: hostile })).status).toBe(1);
  }
  expect(() => readFileSync(marker)).toThrow('ENOENT');
  // What a workflow fills in would be part of the script if an expression stood in it.
  expect(step!.run).not.toContain('${{');
  expect(Object.keys(inputs).length + 1).toBe(Object.keys(step!.env).length);
});
