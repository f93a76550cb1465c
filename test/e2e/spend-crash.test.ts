/**
 * A token verifies once, whatever fails in between: the service is killed between check and spend or between spend and
 * response, or callers hang up while their spends share a call with those of others.
 */
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { Keyring } from '../../src/captcha/seal/keyring.ts';
import { newJti } from '../../src/captcha/seal/sealed-course.ts';
import { sealToken } from '../../src/captcha/seal/sealed-token.ts';
import { deriveKey } from '../../src/store/keys/master-key.ts';
import { facts } from '../unit/captcha/sealing-fixtures.ts';
import { useStack } from '../support/stack.ts';
import { serviceRuntime } from '../support/service-runtime.ts';
import { stackNow } from '../support/clock.ts';

const stack = useStack();
const TOKENS = 300;
/** Verifications of each token, before the service is killed and again after. */
const TIMES = 3;
const CONCURRENT = 48;
/** Enough that some tokens are spent, some are not, and some are on their way. */
const ANSWERS_BEFORE_DEATH = 250;

async function tokens(count: number): Promise<string[]> {
  const root = await stack().rootKey();
  const keyring = new Keyring((label) => deriveKey(root, label));
  const now = stackNow();
  const course = { kind: 'pow', lane: 'rsw', powDifficulty: 4, edge: null } as const;
  const page = { siteKey: stack().siteKey, hostname: 'localhost', action: '', cdata: '' };
  const times = { bornAt: now, issuedAt: now, solvedAt: now, expiresAt: now + 600_000 };
  return Promise.all(
    Array.from({ length: count }, () =>
      sealToken(keyring, { jti: newJti(), ...page, ...times, ...course, level: 1, facts }),
    ),
  );
}

async function verify(token: string): Promise<boolean> {
  const response = await fetch(`${stack().serviceUrl}/siteverify`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ secret: stack().secretKey, token }),
  });
  return response.ok && ((await response.json()) as { verified: boolean }).verified;
}

/** Verifies each token several times, many at once. A call without a response counts as not verified. */
async function verifyAll(list: readonly string[], answered: () => void): Promise<Map<string, number>> {
  const yes = new Map<string, number>();
  const questions = list.flatMap((token) => Array.from({ length: TIMES }, () => token));
  const ask = async (): Promise<void> => {
    for (let token = questions.shift(); token !== undefined; token = questions.shift()) {
      if (await verify(token).catch(() => false)) yes.set(token, (yes.get(token) ?? 0) + 1);
      answered();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT }, ask));
  return yes;
}

test('a service killed during verifications has verified each token at most once', async () => {
  const list = await tokens(TOKENS);
  const victim = serviceRuntime(stack());
  let answers = 0;
  const before = await verifyAll(list, () => {
    if (++answers === ANSWERS_BEFORE_DEATH) process.kill(victim, 'SIGKILL');
  });
  await stack().stopService();
  await stack().startService();
  const after = await verifyAll(list, () => undefined);
  const yeses = list.map((token) => (before.get(token) ?? 0) + (after.get(token) ?? 0));
  expect(Math.max(...yeses)).toBe(1);
  // A verification may be lost with the service, but only one that was under way.
  expect(yeses.filter((count) => count === 0).length).toBeLessThanOrEqual(CONCURRENT);
  expect([before.size > 0, after.size > 0]).toEqual([true, true]);
});

/**
 * Sends one verification. `hangUpAfterMs` ends the connection without waiting for the response: the delay is what the
 * test varies, so that connections end before, during and after the spend.
 */
function raw(token: string, hangUpAfterMs: number | null): Promise<string> {
  const { hostname, port, host } = new URL(stack().serviceUrl);
  const body = JSON.stringify({ secret: stack().secretKey, token });
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `POST /siteverify HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
      );
      if (hangUpAfterMs !== null) setTimeout(() => socket.destroy(), hangUpAfterMs);
    });
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString('latin1')));
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}

test('callers who hang up do not affect others whose spends share a call with theirs', async () => {
  for (let round = 0; round < 10; round++) {
    const list = await tokens(40);
    const answers = await Promise.all(list.map((token, index) => raw(token, index % 2 === 0 ? round : null)));
    const waited = answers.filter((_, index) => index % 2 === 1);
    expect(waited.filter((text) => text.includes('"verified":true'))).toHaveLength(20);
  }
});
