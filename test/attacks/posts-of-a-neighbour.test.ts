/**
 * Calls of `/__protect/*` are counted by network. A neighbour who floods them keeps nobody from opening a session, from
 * solving a challenge or from reporting.
 */
import { expect, test } from 'vitest';
import { browse } from '../support/browse.ts';
import { challengeFor, type Headers, newVisitor, tokenOf, withCookie } from '../support/gate.ts';
import { sessionAt, sessionCookieAt } from '../support/edge-session.ts';
import { useStack } from '../support/stack.ts';

const stack = useStack();
const FLOOD = 450;
const PARALLEL = 20;

async function flood(flooder: Headers): Promise<number[]> {
  const statuses: number[] = [];
  const send = async (): Promise<void> => {
    while (statuses.length < FLOOD) {
      const response = await browse(`${stack().edgeUrl}/__protect/telemetry`, {
        method: 'POST',
        headers: { ...flooder, 'content-type': 'application/json' },
        body: '{}',
      });
      await response.arrayBuffer();
      statuses.push(response.status);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, send));
  return statuses;
}

test('a flood of one address refuses itself and no neighbour', async () => {
  const statuses = await flood(newVisitor(stack(), '10.77.0.1'));
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(FLOOD / 10);
  for (const host of [2, 3, 4, 5, 6]) {
    const neighbour = newVisitor(stack(), `10.77.0.${host}`);
    expect(await sessionCookieAt(stack().edgeUrl, neighbour)).not.toBe('');
    expect(await tokenOf(stack(), neighbour, await challengeFor(stack(), neighbour))).not.toBe('');
  }
});

test('a flood behind the address of a person with a session refuses nothing of theirs', async () => {
  const person = newVisitor(stack(), '10.77.1.1');
  const cookie = await sessionCookieAt(stack().edgeUrl, person);
  await flood(newVisitor(stack(), '10.77.1.1'));
  const withSession = withCookie(person, cookie);
  expect(await tokenOf(stack(), withSession, await challengeFor(stack(), withSession))).not.toBe('');
  expect((await sessionAt(stack().edgeUrl, withSession)({})).status).toBe(200);
});
