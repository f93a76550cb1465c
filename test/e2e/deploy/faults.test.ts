/**
 * A deployment that fails at any of its writes, before or after the effect, and is run again: nothing is there twice, and
 * nothing is lost. The connection is cut, so the command cannot know whether the call had its effect.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inventory, keptKey, oneSite, rows } from '../../support/platform/inventory.ts';
import { Operator, type Run } from '../../support/platform/operator.ts';
import { TOKEN } from '../../support/platform/platform.ts';

const DEPLOY = ['--site', 'www.example.com'];

let operator: Operator;
async function startOperator(): Promise<void> {
  operator = new Operator();
  operator.isBesidePlatform = true;
  await operator.start();
}
beforeEach(startOperator);
afterEach(() => operator.stop());

/** A test for every ten writes, so that each ends long before its time is over. The end is within the last ten. */
const TENS = [1, 11, 21, 31, 41, 51, 61];

/** Runs `attempt` on a new operator for each of ten writes. */
async function atTenWrites(first: number, attempt: (at: number) => Promise<boolean>): Promise<void> {
  let reached = 0;
  for (let at = first; at < first + 10; at += 1) {
    await operator.stop();
    await startOperator();
    if (!(await attempt(at))) break;
    reached += 1;
  }
  if (first === TENS.at(-1)) expect(reached).toBeLessThan(10);
  else expect(reached).toBe(10);
}

function expectOneSentence({ code, error, output }: Run, at: number): void {
  expect({ at, code, lines: error.split('\n').length }).toEqual({ at, code: 1, lines: 1 });
  expect(error).toMatch(/[Rr]un the command again\.$/);
  for (const secret of [TOKEN, keptKey(operator) ?? TOKEN]) expect(`${error}${output}`).not.toContain(secret);
}

describe.each(['before', 'after'] as const)('a fault %s the effect', (when) => {
  test.each(TENS)(
    'of any write of a first deployment is repaired by a second run (write %d and the next nine)',
    (first) =>
      atTenWrites(first, async (at) => {
        operator.platform.failAtWrite(at, when);
        const faulted = await operator.run(DEPLOY);
        if (!operator.platform.endFault()) return false;
        // Some writes only tidy up at the end, and the deployment is complete without them.
        if (faulted.code !== 0) expectOneSentence(faulted, at);
        await expectWhole(at);
        return true;
      }),
  );
});

test.each(TENS)(
  'a deployer that is killed at any write leaves a lease that ends, and the next run completes the deployment (write %d and the next nine)',
  (first) =>
    atTenWrites(first, async (at) => {
      operator.platform.failAtWrite(at, 'from');
      const faulted = await operator.run(DEPLOY);
      if (!operator.platform.endFault()) return false;
      if (faulted.code !== 0) expectOneSentence(faulted, at);
      if (operator.platform.account.databases.length > 0) await endLease();
      await expectWhole(at);
      return true;
    }),
);

async function expectWhole(at: number): Promise<void> {
  const key = keptKey(operator);
  const second = await operator.run(DEPLOY);
  expect({ at, code: second.code, error: second.error }).toEqual({ at, code: 0, error: '' });
  expect({ at, ...(await inventory(operator)) }).toEqual({ at, ...oneSite });
  if (key !== null) expect(keptKey(operator)).toBe(key);
}

async function endLease(): Promise<void> {
  const [{ n } = { n: 0 }] = await rows(operator, `SELECT COUNT(*) AS n FROM sqlite_master WHERE name = 'deployment'`);
  if (n === 1) await rows(operator, 'UPDATE deployment SET held_until = unixepoch() - 1');
}
