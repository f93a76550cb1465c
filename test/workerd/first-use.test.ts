/** When a site first used its widget and its secret: what pages and servers of the site did, and nothing else. */
import { beforeEach, expect, test } from 'vitest';
import { instanceSettings } from '../../src/contract/management/instance-settings.ts';
import { issueClientJwt } from '../../src/store/d1/client-jwts.ts';
import { createInstance } from '../../src/store/d1/instances.ts';
import { siteByKey, type SiteRecord } from '../../src/store/d1/sites.ts';
import { background } from '../support/background-work.ts';
import { later, testNow } from '../support/clock.ts';
import { ask, edgeVisitor, env, handIn, makeAccount, makeSite, post, solvePow, tokenFor } from './captcha-harness.ts';

let site: SiteRecord;
let edge: Record<string, string | null>;
beforeEach(async () => {
  const accountId = await makeAccount('premium');
  site = await makeSite('premium', { powDifficulty: 1 }, accountId);
  const made = { accountId, name: 'Gate', cname: `${crypto.randomUUID()}.example.com`, globalSiteKey: site.siteKey };
  const instance = await createInstance(env, { ...made, policy: instanceSettings.parse({}) }, testNow());
  if (!instance.ok) throw new Error(instance.error);
  const { clientJwt } = await issueClientJwt(env, env.SERVICE_URL, instance.value.id, 1, testNow());
  edge = { authorization: `Bearer ${clientJwt}`, origin: null };
});

async function noted(): Promise<[widget: number | null, backend: number | null]> {
  await Promise.all(background);
  const stored = await siteByKey(env, site.siteKey);
  return [stored!.widgetSolvedAt, stored!.backendVerifiedAt];
}

/** A challenge that a page asks for through the gate, solved. */
async function throughEdge(action: string): Promise<string> {
  const visitor = { ...edgeVisitor };
  const challenge = await ask(site, { action, visitor }, edge);
  const solved = await handIn(challenge.challenge, await solvePow(challenge), edge, { visitor });
  return solved.body.token ?? '';
}

const verify = (token: string, more: object, headers: Record<string, string | null>) =>
  post<{ verified: boolean }>('/siteverify', { secret: site.secretKey, token, ...more }, headers);

test('a challenge of the gate is neither a widget on a page nor a verification by a backend', async () => {
  const token = await throughEdge('clearance');
  const answer = await verify(token, { audience: 'edge', visitor: edgeVisitor, action: 'clearance' }, edge);
  expect(answer.body.verified).toBe(true);
  expect(await noted()).toEqual([null, null]);
});

test('a challenge that is only issued, or answered wrongly, is no widget that was solved', async () => {
  const challenge = await ask(site);
  expect((await handIn(challenge.challenge, { y: 'AA' })).body.verified).toBe(false);
  expect(await noted()).toEqual([null, null]);
});

test('what somebody tries in the console is neither', async () => {
  const { origin, hostname } = new URL(env.SERVICE_URL);
  const local = await makeSite('premium', { powDifficulty: 1, domains: [hostname] }, site.accountId);
  site = local;
  const page = { origin };
  const token = await tokenFor(site, { currentUrl: `${origin}/console` }, page);
  expect((await verify(token, {}, page)).body.verified).toBe(true);
  expect(await noted()).toEqual([null, null]);
});

test('a form that the gate verifies in place has a widget, and no backend yet', async () => {
  const token = await throughEdge('login');
  const solvedAt = testNow();
  expect((await verify(token, { audience: 'edge', visitor: edgeVisitor }, edge)).body.verified).toBe(true);
  expect(await noted()).toEqual([solvedAt, null]);
});

test('a widget on a page, and a server that verifies its token, are noted with their first times', async () => {
  const token = await tokenFor(site);
  const solvedAt = testNow();
  expect(await noted()).toEqual([solvedAt, null]);
  expect((await verify('no token', {}, { origin: null })).body.verified).toBe(false);
  expect(await noted()).toEqual([solvedAt, null]);
  later(1000);
  expect((await verify(token, {}, { origin: null })).body.verified).toBe(true);
  const verifiedAt = testNow();
  later(60_000);
  await verify(await tokenFor(site), {}, { origin: null });
  expect(await noted()).toEqual([solvedAt, verifiedAt]);
});
