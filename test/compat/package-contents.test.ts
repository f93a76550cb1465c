/** The packages as they are published: what is in them, and what tools for packages say of them. */
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { describe, expect, test } from 'vitest';
import { packed, useInstalled } from '../support/packed-packages.ts';

const run = promisify(execFile);
const names = ['server', 'widget'] as const;
const frameworks = ['express', 'fastify', 'hono', 'next', 'react', 'vue', 'svelte'];
const types = ['@types/node', '@types/express', '@types/react'];
const folder = useInstalled(names, [...frameworks, ...types]);

const tarball = async (name: (typeof names)[number]): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(readFileSync(await packed(name)));
const manifest = (name: string): Record<string, Record<string, unknown>> =>
  JSON.parse(readFileSync(join(folder(), 'node_modules/@gatehouse', name, 'package.json'), 'utf8')) as Record<
    string,
    Record<string, unknown>
  >;

describe.each(names)('@gatehouse/%s', (name) => {
  test('has no complaint of publint', async () => {
    const { messages } = await publint({ pack: { tarball: (await tarball(name)).buffer }, strict: true });
    expect(messages).toEqual([]);
  });

  test('has types that every supported way of resolving finds, with the right kind of module', async () => {
    const analysis = await checkPackage(createPackageFromTarballData(await tarball(name)));
    if (!analysis.types) throw new Error('no types');
    // Node 10 knows no subpaths. The widget is for bundlers, which load ES modules from anywhere.
    const problems = analysis.problems.filter(
      (problem) =>
        !('resolutionKind' in problem && problem.resolutionKind === 'node10') &&
        !(name === 'widget' && problem.kind === 'CJSResolvesToESM'),
    );
    expect(problems).toEqual([]);
  });

  test('has every file that its exports name, a licence and a README', () => {
    const root = join(folder(), 'node_modules/@gatehouse', name);
    const paths = JSON.stringify(manifest(name)['exports']).match(/\.\/[^"]*\.(?:c?js|d\.c?ts|json)(?=")/g) ?? [];
    expect(paths.length).toBeGreaterThan(5);
    expect([...paths, 'LICENSE', 'README.md'].filter((path) => !existsSync(join(root, path)))).toEqual([]);
  });

  test('has no dependency, and nothing that runs when it is installed', () => {
    const { dependencies, scripts, peerDependencies, peerDependenciesMeta } = manifest(name);
    expect(dependencies).toBeUndefined();
    expect(Object.keys(scripts ?? {})).toEqual(['prepack']);
    const optional = Object.keys(peerDependencies ?? {}).map((peer) => [peer, { optional: true }]);
    expect(peerDependenciesMeta).toEqual(Object.fromEntries(optional));
  });

  test('has no path and no source of this repository', () => {
    const root = join(folder(), 'node_modules/@gatehouse', name);
    const files = globSync('**/*', { cwd: root, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const { parentPath, name: file } of files) {
      expect(readFileSync(join(parentPath, file), 'utf8')).not.toContain(resolve('.'));
      expect(file).not.toMatch(/(?<!\.d)\.c?ts$/);
    }
  });
});

test('the server package loads by import and by require, in every Node that this machine has', async () => {
  const use = (load: string) => `${load}; if (typeof createVerifier !== 'function') throw new Error('no function');`;
  const subpaths = ['client', 'express', 'fastify', 'hono', 'next'].map((path) => `@gatehouse/server/${path}`);
  for (const node of [process.execPath, '/usr/bin/node'].filter((path) => existsSync(path))) {
    const required = subpaths.map((path) => `require('${path}')`).join(';');
    const byRequire = use(`const { createVerifier } = require('@gatehouse/server'); ${required}`);
    const imported = subpaths.map((path) => `import '${path}'`).join(';');
    const byImport = use(`import { createVerifier } from '@gatehouse/server'; ${imported}`);
    await run(node, ['--input-type=commonjs', '-e', byRequire], { cwd: folder() });
    await run(node, ['--input-type=module', '-e', byImport], { cwd: folder() });
  }
});

test('a strict TypeScript project without DOM types uses the server package', async () => {
  writeFileSync(
    join(folder(), 'server.mts'),
    `import { createVerifier, checkSignature, type VerifyResult } from '@gatehouse/server';
import { solveChallenge } from '@gatehouse/server/client';
import * as ofExpress from '@gatehouse/server/express';
import * as ofFastify from '@gatehouse/server/fastify';
import * as ofHono from '@gatehouse/server/hono';
import { withToken } from '@gatehouse/server/next';
import express from 'express';
import Fastify from 'fastify';
import { Hono } from 'hono';

const verifier = createVerifier({ secret: 's', serviceUrl: 'https://gatehouse.test', failMode: 'open' });
export function explain(result: VerifyResult): string {
  switch (result.outcome) {
    case 'verified': return result.hostname ?? '';
    case 'refused': return result.reason ?? '';
    case 'missing': return result.why;
    case 'unavailable': return result.cause;
    case 'misconfigured': return result.message;
  }
}
express().post('/', ofExpress.requireToken({ verifier, describe: ({ req }) => ({ ip: req.ip }) }), (req, res) => {
  res.send(req.gatehouse?.outcome);
});
Fastify().post('/', { onRequest: ofFastify.requireSignature({ keys: {} }), preHandler: ofFastify.requireToken({ verifier }) },
  async (request) => request.gatehouse?.outcome);
new Hono().post('/', ofHono.requireToken({ verifier }), (c) => c.text(c.get('gatehouse').outcome));
export const POST = withToken({ verifier }, (request: Request, context: object, result) => Response.json({ result, context }));
export const signed = (request: Request) => checkSignature(request, { keys: { a: 'b' } });
const solved = await solveChallenge(new Response(), { headers: { 'user-agent': 'a' } });
if (solved.outcome === 'solved') console.log(solved.cookie);
// @ts-expect-error -- an unknown fail mode
createVerifier({ secret: 's', serviceUrl: 'https://gatehouse.test', failMode: 'ajar' });
`,
  );
  await compile('server.mts', ['--lib', 'es2023', '--module', 'nodenext', '--types', 'node']);
});

test('a strict TypeScript project uses the widget package', async () => {
  writeFileSync(
    join(folder(), 'widget.mts'),
    `import { mountWidget, loadWidget } from '@gatehouse/widget';
import type {} from '@gatehouse/widget/element';
import { Gatehouse as ReactGatehouse, type GatehouseHandle } from '@gatehouse/widget/react';
import { Gatehouse as VueGatehouse } from '@gatehouse/widget/vue';
import { Gatehouse as SvelteGatehouse } from '@gatehouse/widget/svelte';
import { createElement, createRef } from 'react';
import { h } from 'vue';
import { mount } from 'svelte';

const handle = createRef<GatehouseHandle>();
createElement(ReactGatehouse, { serviceUrl: '/__protect', onVerify: (token) => token.length, ref: handle });
h(VueGatehouse, { serviceUrl: '/__protect', onVerify: (token: string) => token.length });
mount(SvelteGatehouse, { target: document.body, props: { serviceUrl: '/__protect', onVerify: (token) => token.length } }).execute();
document.querySelector('gatehouse-widget')?.addEventListener('gatehouse:verified', (event) => event.detail.token.length);
const widget = mountWidget(document.body, { serviceUrl: '/__protect', theme: 'dark', onError: (code) => code === 'expired' });
void loadWidget({ serviceUrl: '/__protect' }).then(() => widget.unmount());
// @ts-expect-error -- an unknown theme
createElement(ReactGatehouse, { serviceUrl: '/__protect', theme: 'pink' });
`,
  );
  await compile('widget.mts', ['--lib', 'es2023,dom,dom.iterable', '--module', 'nodenext']);
});

async function compile(file: string, options: readonly string[]): Promise<void> {
  const tsc = resolve('node_modules/.bin/tsc');
  // The libraries' own declarations are theirs to check.
  const args = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', ...options, file];
  await run(tsc, args, { cwd: folder() }).catch((error: { stdout?: string }) => {
    throw new Error(error.stdout);
  });
}
