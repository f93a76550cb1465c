/**
 * A visitor whose session the gate refuses, because they have moved to another network or it belongs to another state of
 * the service: the page learns of it with its first byte, so that its script opens another one at once.
 */
import { beforeAll, expect, test } from 'vitest';
import { visitorBinding } from '../../src/address/visitor-binding.ts';
import { sessionRefusedTiming } from '../../src/contract/edge/headers.ts';
import { FIREFOX, navigation } from '../support/browse.ts';
import { eventually } from '../support/eventually.ts';
import { call, originAnswers, type RawAnswer, upstream, useEdgeBeforeOrigin } from './edge-before-origin.ts';

const CHALLENGED = `${FIREFOX} ChallengeMe`;

useEdgeBeforeOrigin({
  autoInject: true,
  sessionsEnabled: true,
  enforcementPolicy: { html: { onPending: 'pass' } },
});
beforeAll(async () => {
  await upstream.setRules([{ type: 'userAgent', value: 'challengeme', verdict: 'challenge' }]);
  await eventually(
    () => visit({ userAgent: CHALLENGED }),
    ({ status }) => status === 403,
  );
});

interface Visit {
  /** The session's network. */
  network?: string;
  userAgent?: string;
  dest?: string;
}

async function visit({ network = '127.0.0.1', userAgent = FIREFOX, dest = 'document' }: Visit): Promise<RawAnswer> {
  const headers = { 'cache-control': 'public, max-age=60', 'server-timing': 'db;dur=5' };
  originAnswers({ headers, pieces: ['<!doctype html><html><head></head></html>'] });
  const bnd = await visitorBinding(network, FIREFOX);
  const cookie = `protect_session=jti-1|${await upstream.mintSession({ bnd })}`;
  return call({ ...navigation, cookie, 'user-agent': userAgent, 'sec-fetch-dest': dest });
}

test('a page says that its session was refused, and is kept by no cache', async () => {
  const { status, headers } = await visit({ network: '203.0.113.7' });
  expect([status, headers['x-protect-status']]).toEqual([200, 'invalid-session']);
  expect(headers['server-timing']).toBe(`db;dur=5, ${sessionRefusedTiming}`);
  expect(headers['cache-control']).toBe('private, no-store');
});

test('a challenge page says so too, and opens a session', async () => {
  const { status, headers, body } = await visit({ userAgent: CHALLENGED });
  expect([status, headers['server-timing']]).toEqual([403, sessionRefusedTiming]);
  expect(body.toString()).toMatch(/<main id="gatehouse"[^>]* data-session="[\w.-]+"/);
});

test.each<[string, Visit]>([
  ['a page whose session is good', {}],
  ['a file that a page loads', { network: '203.0.113.7', dest: 'image' }],
  ['a call of a script', { network: '203.0.113.7', dest: 'empty' }],
])('%s says nothing', async (_, visitor) => {
  const { status, headers } = await visit(visitor);
  expect([status, headers['server-timing'], headers['cache-control']]).toEqual([200, 'db;dur=5', 'public, max-age=60']);
});
