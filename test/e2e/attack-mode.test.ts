/** What visitors meet in attack mode: newcomers are challenged once, and nobody who has earned their way is. */
import { expect, test } from 'vitest';
import type { ChallengeResponse } from '../../src/contract/captcha/challenge-api.ts';
import { visit } from '../attacks/visits.ts';
import { browse } from '../support/browse.ts';
import { eventually, manage, useStack } from '../support/stack.ts';
import { clearanceOf, cookiesOf, quickRules, signalsOf, solvedToken } from './edge-visitor.ts';

const stack = useStack({ edgeVars: quickRules });

async function attackMode(on: boolean): Promise<void> {
  await manage(stack(), '/protect/attack-mode/set', { on });
  await eventually(
    () => visit(stack(), { from: '203.0.113.9' }),
    ({ decision }) => decision === (on ? 'challenge' : 'allow'),
  );
}

async function challengeOf(from: string): Promise<ChallengeResponse> {
  const response = await browse(`${stack().edgeUrl}/__protect/challenge`, {
    method: 'POST',
    headers: { ...signalsOf(stack(), { from }), 'content-type': 'application/json' },
    body: JSON.stringify({ capabilities: { bigint: true, worker: true }, action: 'clearance' }),
  });
  return (await response.json()) as ChallengeResponse;
}

/** Squarings of the work that a newcomer is asked for. */
const workFor = async (from: string): Promise<number> => (await challengeOf(from)).pow?.t ?? 0;

test('a newcomer is challenged, solves it once, and goes on; a clearance from before stays good', async () => {
  const [early, late] = ['198.51.100.1', '203.0.113.1'];
  const before = await clearanceOf(stack(), early);
  expect(await visit(stack(), { from: late })).toMatchObject({ status: 200 });
  await attackMode(true);
  expect(await visit(stack(), { from: early, headers: { cookie: before } })).toMatchObject({ status: 200 });
  const refused = await visit(stack(), { from: late });
  expect(refused).toMatchObject({ status: 403, decision: 'challenge' });
  expect(refused.text).toContain('interstitial.js');
  const cookie = await clearanceOf(stack(), late);
  for (let page = 0; page < 3; page++) {
    expect(await visit(stack(), { from: late, headers: { cookie } })).toMatchObject({ status: 200, decision: 'allow' });
  }
  await attackMode(false);
  expect(await visit(stack(), { from: '203.0.113.77' })).toMatchObject({ status: 200, decision: 'allow' });
});

test('what is newly asked for costs two and a half times the work, and the usual work afterwards', async () => {
  const usual = await workFor('192.0.2.1');
  await attackMode(true);
  const raised = await workFor('192.0.2.65');
  expect(raised / usual).toBeCloseTo(2 ** (4 / 3), 1);
  await attackMode(false);
  expect(await workFor('192.0.2.129')).toBe(usual);
});

test('a newcomer without risk gets work that solves itself, and never a picture', async () => {
  await attackMode(true);
  for (const from of ['192.0.2.140', '198.51.100.140', '2001:db8:77::1']) {
    expect(await visit(stack(), { from })).toMatchObject({ decision: 'challenge' });
    const { kind, pow, image, puzzle } = await challengeOf(from);
    expect([kind, pow?.lane, image, puzzle]).toEqual(['pow', 'rsw', undefined, undefined]);
  }
  await attackMode(false);
});

test('a solution of the usual work counts when attack mode begins before it is shown', async () => {
  const from = '198.51.100.200';
  const headers = signalsOf(stack(), { from });
  const token = await solvedToken(stack(), headers);
  await attackMode(true);
  const bought = await browse(`${stack().edgeUrl}/__protect/verify`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  expect(await bought.json()).toMatchObject({ verified: true });
  expect(await visit(stack(), { from, headers: { cookie: cookiesOf(bought) } })).toMatchObject({ status: 200 });
  await attackMode(false);
});

test('rules that allow a network, and paths that need no session, are as before', async () => {
  const rules = [{ type: 'ip', value: '198.51.100.77', verdict: 'allow' }];
  await manage(stack(), '/protect/access-rules/create', { rules });
  await attackMode(true);
  await eventually(
    () => visit(stack(), { from: '198.51.100.77' }),
    ({ status }) => status === 200,
  );
  expect(await visit(stack(), { from: '203.0.113.55', path: '/robots.txt' })).toMatchObject({ decision: 'allow' });
  await attackMode(false);
});
