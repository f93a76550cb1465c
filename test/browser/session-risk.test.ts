/**
 * An automated browser from its first page on: the session opens, its page reports, the score rises, and the gate that
 * allowed it before challenges or blocks it. The risk history shows every part of the score.
 */
import { expect, test } from 'vitest';
import { eventually, letThrough, manage, useStack } from '../support/stack.ts';
import { USER_AGENT, useVisitor } from '../support/visitor.ts';

const stack = useStack({ seedChanges: { settings: letThrough.settings } });
const visitor = useVisitor({ context: { userAgent: USER_AGENT, locale: 'en-US' } });

const navigation = {
  accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
  'accept-language': 'en-US',
  'upgrade-insecure-requests': '1',
  'sec-fetch-site': 'same-origin',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
  'sec-ch-ua': `"Chromium";v="${/Chrome\/(\d+)/.exec(USER_AGENT)![1]}"`,
  'sec-ch-ua-mobile': '?0',
  'sec-ch-ua-platform': '"Linux"',
};

interface History {
  scores: { risk_score: number; cause: string; parts: { detector: string; weight: number }[]; ignored: string[] }[];
  history: { decision: string; risk_score: number | null; fired_rules: string[] }[];
}

async function configVersion(): Promise<string> {
  const headers = { authorization: `Bearer ${stack().opsToken}` };
  const health = await fetch(`${stack().edgeUrl}/__protect/health`, { headers });
  return ((await health.json()) as { configVersion: string }).configVersion;
}

/** Returns once the edge has the policy. */
async function change(policy: object): Promise<void> {
  const before = await configVersion();
  await manage(stack(), '/protect/instances/update', { id: stack().instanceId, ...policy });
  await eventually(configVersion, (version) => version !== before);
}

async function openPage(): Promise<string> {
  const response = await visitor.page.goto(stack().edgeUrl);
  expect(response?.status()).toBe(200);
  const cookie = await eventually(
    async () => (await visitor.context.cookies()).find(({ name }) => name === 'protect_session'),
    (found) => found !== undefined,
  );
  return decodeURIComponent(cookie!.value).split('|')[0]!;
}

/** The next page without its scripts, so that nothing solves a challenge. With what Chromium sends for a navigation. */
const statusOfNextPage = async (): Promise<number> =>
  (await visitor.context.request.get(`${stack().edgeUrl}/echo/next`, { headers: navigation })).status();

test('is allowed its first page and blocked once its session is open; its risk history shows the reasons', async () => {
  const jti = await openPage();
  await eventually(statusOfNextPage, (status) => status === 403);

  const { scores, history } = await eventually(
    () => manage<History>(stack(), '/protect/risk-history', { jti }),
    (found) => found.history.some(({ decision }) => decision === 'block'),
  );
  const last = scores.at(-1)!;
  expect(scores[0]!.cause).toBe('opened');
  const expected = ['webdriver', 'debugger-attached'];
  expect(last.parts.map(({ detector }) => detector)).toEqual(expect.arrayContaining(expected));
  const sum = last.parts.reduce((total, { weight }) => total + weight, 0);
  expect(last.risk_score).toBeCloseTo(Math.min(1, sum));
  const blocked = history.find(({ decision }) => decision === 'block')!;
  expect(blocked.risk_score).toBe(last.risk_score);
  const named = last.parts.map(({ detector }) => `risk:${detector}`);
  expect(blocked.fired_rules.toSorted()).toEqual(named.toSorted());

  // Reports are in the log a moment after they count.
  await eventually(
    () =>
      manage<{ session: { reports: number }; telemetry: unknown[] }>(stack(), '/protect/session-telemetry', { jti }),
    ({ session, telemetry }) => session.reports === telemetry.length,
  );
});

test('is challenged between the thresholds, solves, and continues', async () => {
  await change({ blockThreshold: 1, challengeDifficulty: [] });
  const jti = await openPage();
  await eventually(statusOfNextPage, (status) => status === 403);
  await visitor.page.goto(`${stack().edgeUrl}/echo/challenged`);
  await visitor.page.waitForFunction(() => (document.body.textContent ?? '').includes('/echo/challenged'));
  const { history } = await eventually(
    () => manage<History>(stack(), '/protect/risk-history', { jti }),
    (found) => found.history.some(({ decision, risk_score: score }) => decision === 'allow' && (score ?? 0) >= 0.5),
  );
  expect(history.some(({ decision }) => decision === 'challenge')).toBe(true);
});

test('is allowed where the instance ignores its detectors, and its risk history says which fired', async () => {
  await change({ ...letThrough.policy, blockThreshold: 0.85 });
  const jti = await openPage();
  const { scores, history } = await eventually(
    async () => {
      expect(await statusOfNextPage()).toBe(200);
      return manage<History>(stack(), '/protect/risk-history', { jti });
    },
    (found) => found.scores.some(({ ignored }) => ignored.includes('webdriver')) && found.history.length > 0,
  );
  expect(scores.at(-1)).toMatchObject({ risk_score: 0, parts: [] });
  expect(new Set(history.map(({ decision }) => decision))).toEqual(new Set(['allow']));
});
