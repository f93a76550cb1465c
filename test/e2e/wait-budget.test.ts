/** Waiting without scripts, through both Workers: a network's budget outlives the isolate that counted it. */
import { expect, test } from 'vitest';
import { browse } from '../support/browse.ts';
import { changeSite, useStack } from '../support/stack.ts';
import { addRules, quickRules, signalsOf } from './edge-visitor.ts';

const stack = useStack({ edgeVars: quickRules });
const BUDGET = 10;
const NETWORK = '203.0.113.77';
const ANOTHER_NETWORK = '198.51.100.77';

function visit(path: string, from = NETWORK): Promise<Response> {
  const headers = { ...signalsOf(stack(), { from }), 'user-agent': 'waiting/1.0' };
  return browse(`${stack().edgeUrl}${path}`, { headers });
}

async function waitPath(from = NETWORK): Promise<string> {
  const page = await (await visit('/', from)).text();
  const path = /\/__protect\/wait\?ticket=[\w.~-]+/.exec(page)?.[0];
  if (path === undefined) throw new Error(`no way to wait on the page: ${page.slice(0, 500)}`);
  return path;
}

async function entries(paths: readonly string[]): Promise<number> {
  const answers = await Promise.all(
    paths.map(async (path) => {
      const response = await visit(path);
      await response.text();
      return response.status;
    }),
  );
  return answers.filter((status) => status === 303).length;
}

test('ten visitors of a network pass by waiting, and no more of them pass after the edge restarts', async () => {
  await changeSite(stack(), { minimumLevel: 0 });
  await addRules(stack(), { type: 'userAgent', value: 'waiting', verdict: 'challenge' });
  const paths = await Promise.all(Array.from({ length: BUDGET + 8 }, () => waitPath()));
  // The last ticket opens after all others, and another network pays for it.
  const last = await waitPath(ANOTHER_NETWORK);
  const opened = async () => (await visit(last, ANOTHER_NETWORK)).status;
  await expect.poll(opened).toBe(303);
  expect(await entries(paths.slice(0, BUDGET + 2))).toBe(BUDGET);
  await stack().restartEdge();
  expect(await entries(paths.slice(BUDGET + 2))).toBe(0);
});
