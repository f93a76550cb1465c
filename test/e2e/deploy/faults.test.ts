/**
 * A deployment that fails at any of its writes, before or after the effect, and is run again: nothing is there twice, and
 * nothing is lost. The connection is cut, so the command cannot know whether the call had its effect.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { inventory, keptKey, oneSite, rows } from '../../support/platform/inventory.ts';
import { Operator } from '../../support/platform/operator.ts';
import type { Run } from '../../support/platform/operator.ts';
import { TOKEN } from '../../support/platform/platform.ts';

const DEPLOY = ['--site', 'www.example.com'];

let operator: Operator;
beforeEach(async () => {
  operator = new Operator();
  await operator.start();
});
afterEach(() => operator.stop());

/** Runs `attempt` on a new operator for the first, the second, and each further write until one is never reached. */
async function atEveryWrite(attempt: (at: number) => Promise<boolean>): Promise<number> {
  for (let at = 1; ; at += 1) {
    await operator.stop();
    operator = new Operator();
    await operator.start();
    if (!(await attempt(at))) return at - 1;
  }
}

function expectOneSentence({ code, error, output }: Run, at: number): void {
  expect({ at, code, lines: error.split('\n').length }).toEqual({ at, code: 1, lines: 1 });
  expect(error).toMatch(/[Rr]un the command again\.$/);
  for (const secret of [TOKEN, keptKey(operator) ?? TOKEN]) expect(`${error}${output}`).not.toContain(secret);
}

describe.each(['before', 'after'] as const)('a fault %s the effect', (when) => {
  test('of any write of a first deployment is repaired by a second run', async () => {
    const writes = await atEveryWrite(async (at) => {
      operator.platform.failAtWrite(at, when);
      const first = await operator.run(DEPLOY);
      if (!operator.platform.endFault()) return false;
      // Some writes only tidy up at the end, and the deployment is complete without them.
      if (first.code !== 0) expectOneSentence(first, at);
      await expectWhole(at);
      return true;
    });
    expect(writes).toBeGreaterThan(40);
  });
});

test('a deployer that is killed at any write leaves a lease that ends, and the next run completes the deployment', async () => {
  const writes = await atEveryWrite(async (at) => {
    operator.platform.failAtWrite(at, 'from');
    const first = await operator.run(DEPLOY);
    if (!operator.platform.endFault()) return false;
    if (first.code !== 0) expectOneSentence(first, at);
    if (operator.platform.account.databases.length > 0) await endLease();
    await expectWhole(at);
    return true;
  });
  expect(writes).toBeGreaterThan(40);
});

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
