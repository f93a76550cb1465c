/**
 * `npm run bench -- start [--runs N]`: how long `npm start` takes until all three listen, and until a visitor in headless
 * Chromium has solved the first challenge. The floor is a bare Worker on workerd, from its process to its first response.
 */
import { parseArgs } from 'node:util';
import { FIRST_VISITOR, firstChallenge, npmStart } from '../test/support/npm-start.ts';
import { launchChromium } from '../test/support/chromium.ts';
import { startRawWorker } from '../test/support/raw-workerd.ts';
import { median } from './measure/statistics.ts';

const RUNS_DEFAULT = 3;
/** What the quick start of the README promises. */
const READY_TARGET_MS = 10_000;
const SOLVED_TARGET_MS = 15_000;
const BARE_WORKER = 'export default { fetch: () => new Response() };';

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { runs: { type: 'string' } } });
  const runs = Array.from({ length: Number(values.runs ?? RUNS_DEFAULT) });
  const [floors, ready, solved]: number[][] = [[], [], []];
  const browser = await launchChromium();
  try {
    for (const _ of runs) {
      floors!.push(await bareWorkerMs());
      const page = await browser.newPage({ userAgent: `Mozilla/5.0 ${FIRST_VISITOR}` });
      const startedAt = performance.now();
      const started = await npmStart();
      try {
        const stack = await started.ready;
        ready!.push(performance.now() - startedAt);
        await firstChallenge(stack, page);
        solved!.push(performance.now() - startedAt);
      } finally {
        await page.close();
        await started.stop();
      }
    }
  } finally {
    await browser.close();
  }
  const floor = median(floors!);
  const row = (ms: number, target: number | null) => ({
    'median, ms': Math.round(ms),
    'ratio to a bare Worker': (ms / floor).toFixed(1),
    'target, ms': target,
  });
  console.table({
    'a bare Worker responds': row(floor, null),
    'npm start: all three listen': row(median(ready!), READY_TARGET_MS),
    'npm start: first challenge solved': row(median(solved!), SOLVED_TARGET_MS),
  });
}

async function bareWorkerMs(): Promise<number> {
  const startedAt = performance.now();
  const worker = await startRawWorker({ source: BARE_WORKER, compatibilityDate: '2026-10-01' });
  await (await fetch(worker.url)).arrayBuffer();
  const ms = performance.now() - startedAt;
  await worker.stop();
  return ms;
}
