/**
 * Challenge difficulty by risk score over HTTP: the edge sends the risk, and its instance's table decides the
 * difficulty.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { instanceSettings } from '../../src/contract/management/instance-settings.ts';
import { createInstance } from '../../src/store/d1/instances.ts';
import { issueClientJwt } from '../../src/store/d1/client-jwts.ts';
import type { SiteRecord } from '../../src/store/d1/sites.ts';
import { ask, edgeVisitor as visitor, env, makeAccount, makeSite, opened } from './captcha-harness.ts';
import { testNow } from '../support/clock.ts';

const challengeDifficulty = [
  { minScore: 0.5, powDifficulty: 2 },
  { minScore: 0.8, captchaType: 'image' as const },
];

let site: SiteRecord;
let edge: Record<string, string | null>;
beforeAll(async () => {
  const accountId = await makeAccount('free');
  site = await makeSite('free', { powDifficulty: 1 }, accountId);
  const instance = await createInstance(
    env,
    {
      accountId,
      name: 'Gate',
      cname: `${crypto.randomUUID()}.example.com`,
      globalSiteKey: site.siteKey,
      policy: instanceSettings.parse({ challengeDifficulty }),
    },
    testNow(),
  );
  if (!instance.ok) throw new Error(instance.error);
  const { clientJwt } = await issueClientJwt(env, env.SERVICE_URL, instance.value.id, 1, testNow());
  edge = { authorization: `Bearer ${clientJwt}`, origin: null };
});

describe('a challenge that an edge requests', () => {
  const kindAt = async (riskScore: number) => {
    const challenge = await ask(site, { visitor: { ...visitor, riskScore } }, edge);
    return { kind: challenge.kind, squarings: challenge.pow?.t ?? null };
  };

  test('is the site’s own below the first row, more work from the first row on, and a picture above', async () => {
    const calm = await kindAt(0.2);
    const doubtful = await kindAt(0.6);
    expect(calm.kind).toBe('pow');
    expect(doubtful.kind).toBe('pow');
    expect(doubtful.squarings! / calm.squarings!).toBeCloseTo(2 ** (2 / 3), 1);
    // The work comes before the picture, at the price of the risk.
    expect((await kindAt(0.9)).kind).toBe('image');
  });

  test('carries the risk in its seal, where no page can read it', async () => {
    const challenge = await ask(site, { visitor: { ...visitor, riskScore: 0.6 } }, edge);
    expect((await opened(challenge)).facts).toMatchObject({ score: 0.6, detectors: ['session-risk'] });
  });

  test('has the kind of the level that the page asks for, and is never easier for it', async () => {
    const kindFor = async (level: number, riskScore = 0.2) =>
      (await ask(site, { level, visitor: { ...visitor, riskScore } }, edge)).kind;
    expect([await kindFor(0), await kindFor(1), await kindFor(2)]).toEqual(['pow', 'pow', 'puzzle']);
    expect(await kindFor(0, 0.9)).toBe('image');
  });

  test('of a visitor without an edge does not depend on what the page sends about a session', async () => {
    const challenge = await ask(site, { sessionId: '4someones-session' });
    expect(challenge.kind).toBe('pow');
  });
});
