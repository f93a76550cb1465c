/**
 * Wrong passwords for somebody else's name, from networks that nothing connects, so that the person with the right one is
 * refused. A limit by user challenges instead: it costs the guesser work for each clearance, and the person one challenge
 * that their browser solves by itself.
 */
import { beforeAll, expect, test } from 'vitest';
import { DEMO_EMAIL, DEMO_PASSWORD } from '../../src/cli/demo/visit.ts';
import { clearanceOf, quickRules, signalsOf } from '../e2e/edge-visitor.ts';
import { browse } from '../support/browse.ts';
import { eventually, manage, useStack } from '../support/stack.ts';

const stack = useStack({ edgeVars: quickRules });
const NETWORKS = 8;
const COUNT = 5;

beforeAll(async () => {
  await manage(stack(), '/protect/policies/set', {
    limits: [
      {
        name: 'guesses',
        key: ['user'],
        count: COUNT,
        windowSeconds: 900,
        on: 'loginFailed',
        loginFailed: { status: [401], usernameField: 'email' },
      },
    ],
    policies: [{ name: 'logins', when: 'path equals "/login"', then: { action: 'limit', limit: 'guesses' } }],
  });
});

function logIn(from: string, password: string, cookie?: string): Promise<Response> {
  return browse(`${stack().edgeUrl}/login`, {
    method: 'POST',
    headers: { ...signalsOf(stack(), { from }), ...(cookie === undefined ? {} : { cookie }) },
    body: new URLSearchParams({ email: DEMO_EMAIL, password }),
  });
}

test('wrong passwords from eight networks cost the person with the right one a challenge that solves itself', async () => {
  let guess = 0;
  const refused = await eventually(
    () => logIn(`198.51.${guess++ % NETWORKS}.1`, 'wrong'),
    ({ status }) => status !== 401,
  );
  expect([refused.status, refused.headers.get('x-protect-decision')]).toEqual([403, 'challenge']);
  for (let network = 0; network < NETWORKS; network++) {
    expect((await logIn(`198.51.${network}.1`, 'wrong')).headers.get('x-protect-decision')).toBe('challenge');
  }
  const victim = '203.0.113.9';
  const asked = await logIn(victim, DEMO_PASSWORD);
  expect([asked.status, asked.headers.get('x-protect-decision')]).toEqual([403, 'challenge']);
  const done = await logIn(victim, DEMO_PASSWORD, await clearanceOf(stack(), victim));
  expect([done.status, done.headers.get('location')]).toEqual([303, '/account']);
});
