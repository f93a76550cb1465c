/**
 * `npm run bench -- signatures`: processor time of workerd for the signature of an agent, the first time and again, and
 * for a request without one. The floor is WebCrypto alone.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Miniflare } from 'miniflare';
import { DIRECTORY_PATH } from '../src/bots/signatures/agent-address.ts';
import { runtimeOptions } from '../src/cli/runtime-options.ts';
import { bundleWorker, workerConfig } from '../src/cli/worker-config.ts';
import { agentKeyPair, signed } from '../test/support/signed-request.ts';
import { exactProcessorMs, workerdPids } from './measure/processor-time.ts';
import type { SignatureWork } from './workers/signature-worker.ts';

const REQUESTS = 2000;
const REPEATS = 200_000;
const URL = 'https://shop.example/page?q=1';

export async function run(): Promise<void> {
  const storage = mkdtempSync(join(tmpdir(), 'gatehouse-bench-signatures-'));
  const file = { name: 'bench', main: 'bench/workers/signature-worker.ts', compatibility_date: '2026-10-01' };
  const config = workerConfig(file, await bundleWorker(file.main), {});
  const miniflare = new Miniflare({ ...runtimeOptions('bench', storage, true), workers: [{ config }] });
  try {
    await miniflare.ready;
    const pids = workerdPids();
    const spentMs = async (work: SignatureWork): Promise<number> => {
      const before = exactProcessorMs(pids);
      const response = await miniflare.dispatchFetch('http://bench/', { method: 'POST', body: JSON.stringify(work) });
      const { verified } = (await response.json()) as { verified: number };
      if (verified !== (work.part === 'first' ? REQUESTS : work.part === 'again' ? 1 : 0)) throw new Error(work.part);
      return exactProcessorMs(pids) - before;
    };
    process.stdout.write('Signatures of agents: processor time of workerd\n\n');
    for (const kind of ['ed25519', 'rsa'] as const) {
      const base = await workFor(kind);
      // Compiled before it is measured.
      await spentMs({ ...base, part: 'first' });
      const prepareMs = await spentMs({ ...base, part: 'prepare' });
      const row = async (part: SignatureWork['part'], times: number): Promise<void> => {
        const microseconds = (((await spentMs({ ...base, part })) - prepareMs) * 1000) / times;
        process.stdout.write(`${`${kind}, ${part}`.padEnd(24)} ${microseconds.toFixed(2).padStart(8)} µs\n`);
      };
      await row('verify-alone', REQUESTS);
      await row('first', REQUESTS);
      await row('again', REPEATS);
      await row('unsigned', REPEATS);
    }
  } finally {
    await miniflare.dispose();
    rmSync(storage, { recursive: true, force: true });
  }
}

async function workFor(kind: 'ed25519' | 'rsa'): Promise<Omit<SignatureWork, 'part'>> {
  const pair = await agentKeyPair(kind);
  const nowMs = Date.now();
  const components = ['@authority', '@method', '@path', { name: 'signature-agent', parameters: { key: 'sig1' } }];
  const requests = await Promise.all(
    Array.from({ length: REQUESTS }, async (_, index) => {
      const request = await signed(pair, { nowMs, url: URL, components, parameters: { nonce: `nonce-${index}` } });
      return Object.fromEntries(request.headers);
    }),
  );
  return { directory: `https://agent.test${DIRECTORY_PATH}`, key: pair.key, url: URL, requests, times: REPEATS };
}
