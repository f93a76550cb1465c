/**
 * What a check costs workerd with the libraries of ALTCHA and Cap, over HTTP, and in a Worker that only reads the body:
 * the floor of all of them.
 */
import { spawnSync } from 'node:child_process';
import { createChallenge, solveChallenge } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { runtimeOptions } from '../../src/cli/runtime-options.ts';
import { bundleOptions, workerConfig } from '../../src/cli/worker-config.ts';
import { MEASURED_CPU, requestText } from '../measure/load.ts';
import { workerdPids } from '../measure/processor-time.ts';

/** @cap.js/server is CommonJS and asks for these, which a module must import. */
const REQUIRED = `import * as nodeCrypto from 'node:crypto';
import * as nodeEvents from 'node:events';
import * as nodeFiles from 'node:fs/promises';
const require = (name) => ({ 'node:crypto': nodeCrypto, 'node:events': nodeEvents, 'node:fs/promises': nodeFiles })[name];`;
/** As long as real ones: 25 and 15 random bytes. */
const CAP_CHALLENGE = 'c'.repeat(50);
const CAP_TOKEN = `${'d'.repeat(16)}:${'e'.repeat(30)}`;
const SEARCHED_MAX = 65_536;

export const BARE_FLOOR = 'Floor: a Worker that reads the body';

export interface PeerRequest {
  path: string;
  body: object;
  /** Text of the right response. */
  expected: string;
}

/**
 * A wrong solution costs Cap the same 50 hashes and needs no search. What it leaves out is making the token, one hash.
 */
export const peerRequests = {
  [BARE_FLOOR]: async () => ({ path: '/', body: {}, expected: '"verified":true' }),
  'altcha-lib: verifySolution, no single use': async () => ({
    path: '/altcha',
    body: { altcha: await altchaPayload() },
    expected: '"verified":true',
  }),
  '@cap.js/server: redeemChallenge, no store': async () => ({
    path: '/cap/redeem',
    body: { token: CAP_CHALLENGE, solutions: Array.from({ length: 50 }, (_, index) => (index * 1301) % SEARCHED_MAX) },
    expected: '"verified":false',
  }),
  '@cap.js/server: validateToken, no store': async () => ({
    path: '/cap/validate',
    body: { token: CAP_TOKEN },
    expected: '"verified":true',
  }),
} satisfies Record<string, () => Promise<PeerRequest>>;

export type PeerName = keyof typeof peerRequests;

export interface RunningPeers {
  url: URL;
  pids: readonly number[];
  requests: Record<PeerName, { text: string; expected: string }>;
  stop(): Promise<void>;
}

export async function startPeers(storage: string): Promise<RunningPeers> {
  const file = {
    name: 'peers',
    main: 'bench/workers/verify-peers-worker.ts',
    compatibility_date: '2026-10-01',
    compatibility_flags: ['nodejs_compat'],
  };
  const { outputFiles } = await build({ ...bundleOptions(file.main), banner: { js: REQUIRED } });
  const known = new Set(workerdPids());
  const config = workerConfig(file, outputFiles[0]!.text, {});
  const miniflare = new Miniflare({ ...runtimeOptions('peers', storage, true), workers: [{ config }] });
  const url = await miniflare.ready;
  const pids = workerdPids().filter((pid) => !known.has(pid));
  for (const pid of pids) spawnSync('taskset', ['-a', '-p', '-c', String(MEASURED_CPU), String(pid)]);
  const headers = { host: url.host, 'content-type': 'application/json' };
  const requests = {} as RunningPeers['requests'];
  for (const name of Object.keys(peerRequests) as PeerName[]) {
    const { path, body, expected } = await peerRequests[name]();
    requests[name] = { text: requestText('POST', path, headers, JSON.stringify(body)), expected };
  }
  return { url, pids, requests, stop: () => miniflare.dispose() };
}

/** Of a counter that is found at once: the check is measured, not the search. It costs the same for every counter. */
async function altchaPayload(): Promise<string> {
  const challenge = await createChallenge({
    algorithm: 'PBKDF2/SHA-256',
    cost: 5000,
    counter: 1,
    deriveKey,
    hmacSignatureSecret: 'bench',
    hmacKeySignatureSecret: 'bench-key',
  });
  const solution = await solveChallenge({ challenge, deriveKey });
  return Buffer.from(JSON.stringify({ challenge, solution })).toString('base64');
}
