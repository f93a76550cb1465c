/** A Worker in which one request waits for the work of another and goes on without it. For `edge-shared-work.test.ts`. */
import { SpendBatcher } from '../../src/store/spend-ledger/client/spend-batcher.ts';
import { ExactTakes } from '../../src/edge/limits/exact-takes.ts';
import { ok } from '../../src/result.ts';

/** Both requests arrive at once. */
const NOW_MS = 0;

const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** Requests that have begun, so that a test knows when the next one meets them. */
let begun = 0;
const batcher = new SpendBatcher(20);
const takes = new ExactTakes({
  ask: async (asked) => {
    await sleep(600);
    return ok(asked.map(() => [1, 0, 0] as const));
  },
  now: () => NOW_MS,
  // Batches are open for long enough that a second request joins, and that request waits for less time.
  sleep: (ms) => sleep(ms === 1 ? 300 : Math.min(ms, 1)),
  count: () => undefined,
});

async function answer(path: string, waitUntil: (work: Promise<unknown>) => void): Promise<unknown> {
  const isFirst = path.endsWith('/first');
  if (path.startsWith('/takes/')) {
    const wish = { key: 'a', algorithm: 'sliding' as const, count: 5, windowMs: 60_000 };
    const taking = await takes.take(wish, NOW_MS, waitUntil);
    return taking.ok ? taking.value : null;
  }
  const send = async (rows: readonly unknown[]) => {
    await sleep(isFirst ? 400 : 1);
    return rows.map(() => ({ spent: true, replay: null }));
  };
  return batcher.spend('ledger', [path, 0, null, '', path], { send, waitUntil }, NOW_MS);
}

export default {
  async fetch(request: Request, _: unknown, context: { waitUntil(work: Promise<unknown>): void }): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/begun') return Response.json(begun);
    begun++;
    return Response.json(await answer(pathname, (work) => context.waitUntil(work)));
  },
};
