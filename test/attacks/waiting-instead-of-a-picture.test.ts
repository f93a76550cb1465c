/**
 * Waiting is no work at all, so it counts only where a site says so, and never where a picture is asked for, by the site
 * or by the risk. These clients try to wait their way in all the same.
 */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cookiesOf, quickRules } from '../e2e/edge-visitor.ts';
import {
  atRisk,
  boughtToken,
  call,
  challengeFor,
  type Headers,
  newVisitor,
  page,
  personsToken,
  verify,
  withCookie,
} from '../support/gate.ts';
import { changeSite, eventually, manage, useStack } from '../support/stack.ts';

const stack = useStack({ edgeVars: quickRules });
const GUARDED = '/echo/guarded/x';
const LAX = { minimumLevel: 0, captchaType: 'pow', powDifficulty: 1 } as const;
const WITHOUT_SCRIPT = { capabilities: { script: false } };
let settings: object = {};

beforeAll(async () => {
  const pathRules = [{ pattern: '/echo/guarded/**', action: 'challenge' }];
  await manage(stack(), '/protect/instances/update', { id: stack().instanceId, pathRules });
  await eventually(
    () => page(stack(), newVisitor(stack()), GUARDED),
    ({ status }) => status === 403,
  );
});

/** The site as a test needs it, also for isolates of the service, which keep a site for two seconds. */
async function use(wanted: { minimumLevel: number; captchaType: string; powDifficulty: number }): Promise<void> {
  if (JSON.stringify(wanted) === JSON.stringify(settings)) return;
  await changeSite(stack(), wanted);
  settings = wanted;
  const offersWait = wanted.minimumLevel === 0 && wanted.captchaType === 'pow';
  await eventually(
    () =>
      call(`${stack().edgeUrl}/__protect/challenge`, newVisitor(stack()), { action: 'clearance', ...WITHOUT_SCRIPT }),
    ({ status }) => (status === 200) === offersWait,
  );
}

const interstitial = async (headers: Headers) => (await page(stack(), headers, GUARDED)).text();
const linkIn = (html: string) => /\/__protect\/wait\?ticket=[\w.~-]+/.exec(html)?.[0];
const statusOf = async (headers: Headers) => (await page(stack(), headers, GUARDED)).status;

async function ticketFor(headers: Headers): Promise<string> {
  const link = linkIn(await interstitial(headers));
  if (link === undefined) throw new Error('no link');
  return link;
}
/** Follows the link until it stops asking for patience. */
function opened(headers: Headers, link: string): Promise<Response> {
  return eventually(
    () => page(stack(), headers, link),
    ({ headers: answered }) => !answered.has('refresh'),
  );
}

describe('a site that asks for a picture', () => {
  test.each(['image', 'puzzle'])(
    'of kind %s offers no link, says what to do, and issues no wait',
    async (captchaType) => {
      await use({ ...LAX, captchaType });
      const visitor = newVisitor(stack());
      const html = await interstitial(visitor);
      expect(linkIn(html)).toBeUndefined();
      expect(html).not.toContain('Continue without scripts');
      expect(html).toContain('Turn on JavaScript');
      for (const action of ['clearance', 'contact']) {
        const asked = await call(`${stack().edgeUrl}/__protect/challenge`, visitor, { action, ...WITHOUT_SCRIPT });
        expect(asked).toMatchObject({ status: 400, body: { error: { key: 'API.INCORRECT_CAPTCHA_TYPE' } } });
      }
      const frame = `${stack().serviceUrl}/captcha/v1/wait?sitekey=${stack().siteKey}`;
      const waiting = await fetch(frame, { headers: { ...visitor, referer: `${stack().edgeUrl}/` } });
      expect(waiting.status).toBe(400);
      expect(await waiting.text()).toContain('Turn on JavaScript');
    },
  );

  test('gives no clearance for a token of level 0 or of work, however it was made', async () => {
    await use(LAX);
    const visitor = newVisitor(stack());
    const waited = await challengeFor(stack(), visitor, WITHOUT_SCRIPT);
    const worked = await challengeFor(stack(), visitor);
    await use({ ...LAX, captchaType: 'image' });
    for (const { challenge } of [waited, worked]) {
      const { status, body, cookie } = await verify(stack(), visitor, await personsToken(stack(), challenge));
      expect([status, cookie]).toEqual([200, '']);
      expect(body).toEqual({ verified: false, reason: 'API.LEVEL_TOO_LOW' });
    }
  });
});

describe('a site that says nothing about waiting', () => {
  test('offers no link and issues no wait', async () => {
    await use({ ...LAX, minimumLevel: 1 });
    const visitor = newVisitor(stack());
    expect(linkIn(await interstitial(visitor))).toBeUndefined();
    const asked = await call(`${stack().edgeUrl}/__protect/challenge`, visitor, WITHOUT_SCRIPT);
    expect(asked).toMatchObject({ status: 400, body: { error: { key: 'API.INCORRECT_CAPTCHA_TYPE' } } });
  });

  test('does not accept a clearance that was waited for before', async () => {
    await use(LAX);
    const visitor = newVisitor(stack());
    const link = await ticketFor(visitor);
    const cookie = cookiesOf(await opened(visitor, link));
    const cleared = withCookie(visitor, cookie);
    expect(await statusOf(cleared)).toBe(200);
    // The risk is compared whenever the clearance is shown.
    expect(await statusOf(withCookie(await atRisk(stack(), visitor, 0.6), cookie))).toBe(403);
    await use({ ...LAX, minimumLevel: 1 });
    expect(await statusOf(cleared)).toBe(403);
  });
});

describe('a wait that began before the demand rose', () => {
  beforeEach(() => use(LAX));

  test('leads to a page that says why, and sets no cookie', async () => {
    const [patient, atHome] = [newVisitor(stack()), newVisitor(stack())];
    const [link, riskyLink, stolen] = await Promise.all([ticketFor(patient), ticketFor(atHome), ticketFor(atHome)]);
    // While the demand is met, the link opens.
    const passed = await opened(patient, link);
    expect([passed.status, cookiesOf(passed)]).toEqual([303, expect.stringContaining('clearance')]);

    const risky = await page(stack(), await atRisk(stack(), atHome, 0.75), riskyLink);
    const thief = await page(stack(), newVisitor(stack()), stolen);
    const elsewhere = await page(stack(), { ...atHome, host: 'other.localhost' }, stolen);
    await use({ ...LAX, captchaType: 'image' });
    const strict = await page(stack(), atHome, riskyLink);
    for (const refused of [risky, strict]) {
      expect([refused.status, cookiesOf(refused)]).toEqual([403, '']);
      expect(await refused.text()).toContain('This site asks for a task that requires JavaScript.');
    }
    for (const refused of [thief, elsewhere]) expect([refused.status, cookiesOf(refused)]).toEqual([400, '']);
  });

  test('gives no clearance to a visitor whose risk rose, and stays usable for the calm one', async () => {
    const visitor = newVisitor(stack());
    const { challenge } = await challengeFor(stack(), visitor, WITHOUT_SCRIPT);
    const token = await personsToken(stack(), challenge);
    for (const risk of [0.5, 0.75]) {
      const refused = await verify(stack(), await atRisk(stack(), visitor, risk), token);
      expect(refused).toMatchObject({ status: 200, cookie: '', body: { reason: 'API.LEVEL_TOO_LOW' } });
    }
    expect((await verify(stack(), visitor, token)).body).toMatchObject({ verified: true });
  });

  test('is not offered to a visitor at risk', async () => {
    const risky = await atRisk(stack(), newVisitor(stack()), 0.55);
    expect(linkIn(await interstitial(risky))).toBeUndefined();
    const asked = await call(`${stack().edgeUrl}/__protect/challenge`, risky, WITHOUT_SCRIPT);
    expect(asked.status).toBe(400);
    // The way that is left is the honest one.
    expect((await verify(stack(), risky, await boughtToken(stack(), risky))).body).toMatchObject({ verified: true });
  });
});
