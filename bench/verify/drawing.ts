/**
 * Times how long workerd draws each task, by its processor time: a Worker's clock stands still between I/O. Every call
 * draws another picture. What a call takes that draws nothing is taken off.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Miniflare } from 'miniflare';
import { newJti } from '../../src/captcha/seal/sealed-course.ts';
import { runtimeOptions } from '../../src/cli/runtime-options.ts';
import { bundleWorker, workerConfig } from '../../src/cli/worker-config.ts';
import { exactProcessorMs, workerdPids } from '../measure/processor-time.ts';
import { median, percentile } from '../measure/statistics.ts';
import type { DrawCall } from '../workers/draw-worker.ts';

const CALLS = 300;
const WARM_UP_CALLS = 60;
const TARGET_MS = 4;
const tasks = ['nothing', 'image', 'puzzle', 'audio'] as const;

export async function timeDrawing(): Promise<Record<string, object>> {
  const storage = mkdtempSync(join(tmpdir(), 'gatehouse-bench-draw-'));
  const file = { name: 'bench', main: 'bench/workers/draw-worker.ts', compatibility_date: '2026-10-01' };
  const config = workerConfig(file, await bundleWorker(file.main), {});
  const known = new Set(workerdPids());
  const miniflare = new Miniflare({ ...runtimeOptions('bench', storage, true), workers: [{ config }] });
  const spent: Record<DrawCall['task'], number[]> = { nothing: [], image: [], puzzle: [], audio: [] };
  try {
    await miniflare.ready;
    const pids = workerdPids().filter((pid) => !known.has(pid));
    for (let call = -WARM_UP_CALLS; call < CALLS; call++) {
      for (const task of tasks) {
        const before = exactProcessorMs(pids);
        const body = JSON.stringify({ task, jti: newJti() } satisfies DrawCall);
        const response = await miniflare.dispatchFetch('http://bench/', { method: 'POST', body });
        if (!response.ok) throw new Error(await response.text());
        if (call >= 0) spent[task].push(exactProcessorMs(pids) - before);
      }
    }
  } finally {
    await miniflare.dispose();
    rmSync(storage, { recursive: true, force: true });
  }
  const floor = median(spent.nothing);
  return Object.fromEntries(
    tasks.slice(1).map((task) => [
      `Gatehouse: draw ${task}`,
      {
        'CPU ms, p50': (median(spent[task]) - floor).toFixed(2),
        'CPU ms, p99': (percentile(spent[task], 0.99) - floor).toFixed(2),
        'target ms': task === 'audio' ? '' : TARGET_MS,
        pictures: CALLS,
      },
    ]),
  );
}
