/**
 * Browsers that a program drives and that hide it: without the automation flag, with patched properties, behind proxies
 * of built-in functions, and under the name of another browser. Each opens an ordinary page of a site with the default
 * policy. Its session must end where a challenge takes more than proof of work, and its next page is refused. So must the
 * session of a script that does the work and makes up the report of a browser.
 */
import type { BrowserContext, BrowserContextOptions } from 'playwright-core';
import { expect, test } from 'vitest';
import { instancePolicy } from '../../src/contract/management/instance-policy.ts';
import type { EnvironmentReport } from '../../src/contract/edge/page-reports.ts';
import type { SessionChallenge } from '../../src/contract/captcha/challenge-api.ts';
import { signalsOf } from '../e2e/edge-visitor.ts';
import { browse } from '../support/browse.ts';
import { launchCarriedChromium } from '../support/chromium.ts';
import { sessionAt } from '../support/edge-session.ts';
import { PERSONS_BROWSER, personsHeaders, solvedSession } from '../support/session.ts';
import { eventually, manage, useStack } from '../support/stack.ts';
import { USER_AGENT } from '../support/visitor.ts';

const FLAG_OFF = '--disable-blink-features=AutomationControlled';
const SAFARI =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15';
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:148.0) Gecko/20100101 Firefox/148.0';

interface History {
  scores: { risk_score: number; parts: { detector: string }[] }[];
}

const stack = useStack({ seedChanges: {} });
const puzzleRow = instancePolicy.parse({}).challengeDifficulty.find(({ captchaType }) => captchaType === 'puzzle')!;

function patch(): void {
  delete (Object.getPrototypeOf(navigator) as { webdriver?: boolean }).webdriver;
  Object.defineProperty(Navigator.prototype, 'languages', { get: () => ['en-US', 'en'] });
  Object.defineProperty(Navigator.prototype, 'hardwareConcurrency', { get: () => 8 });
  (globalThis as { chrome?: object }).chrome = { app: {}, runtime: {} };
}

function patchByProxy(): void {
  for (const [name, value] of Object.entries({ webdriver: false, hardwareConcurrency: 8 })) {
    const own = Object.getOwnPropertyDescriptor(Navigator.prototype, name)!;
    // oxlint-disable-next-line typescript/unbound-method -- the proxy passes its object on
    const get = new Proxy(own.get!, { apply: (target, self) => (Reflect.apply(target, self, []), value) });
    Object.defineProperty(Navigator.prototype, name, { ...own, get });
  }
}

/** The id of the session that a page of the site opened. */
async function openedSession(context: BrowserContext): Promise<string> {
  await (await context.newPage()).goto(stack().edgeUrl);
  const cookie = await eventually(
    async () => (await context.cookies()).find(({ name }) => name === 'protect_session'),
    (found) => found !== undefined,
  );
  return decodeURIComponent(cookie!.value).split('|')[0]!;
}

test.each<[string, string, BrowserContextOptions, readonly string[], (() => void) | null]>([
  ['without the automation flag', 'debugger-attached', { userAgent: USER_AGENT }, [FLAG_OFF], null],
  ['with patched properties', 'patched-browser', { userAgent: USER_AGENT }, [], patch],
  ['with proxies of built-in functions', 'debugger-attached', { userAgent: USER_AGENT }, [FLAG_OFF], patchByProxy],
  ['under Safari’s name', 'debugger-attached', { userAgent: SAFARI }, [FLAG_OFF], null],
  ['under Firefox’s name', 'debugger-attached', { userAgent: FIREFOX }, [FLAG_OFF], null],
])('a driven Chromium %s gets no further by it', async (_, detector, options, args, script) => {
  const browser = await launchCarriedChromium(args);
  try {
    const context = await browser.newContext({ locale: 'en-US', ...options });
    if (script !== null) await context.addInitScript(script);
    const jti = await openedSession(context);
    const { scores } = await eventually(
      () => manage<History>(stack(), '/protect/risk-history', { jti }),
      (found) => (found.scores.at(-1)?.risk_score ?? 0) >= puzzleRow.minScore,
    );
    expect(scores.at(-1)!.parts.map((part) => part.detector)).toContain(detector);
    await eventually(
      async () => (await context.request.get(`${stack().edgeUrl}/echo/next`)).status(),
      (status) => status === 403,
    );
  } finally {
    await browser.close();
  }
});

test.each<[string, string, Partial<EnvironmentReport>]>([
  [
    'of another browser',
    'contradictory-engine',
    { engine: 'gecko', marks: ['gecko-css', 'gecko-screen'], hints: null },
  ],
  ['with nothing in it', 'implausible-environment', { marks: [], features: 0, hints: null }],
  ['of another version and system', 'contradictory-version', { userAgent: USER_AGENT, system: 'linux', features: 1 }],
])('a script that does the work and makes up a report %s gets no further by it', async (_, detector, changes) => {
  const headers = { ...personsHeaders, ...signalsOf(stack(), { from: '10.7.0.1', country: 'DE' }) };
  const post = sessionAt(stack().edgeUrl, headers);
  const { body } = await post({});
  const made = await solvedSession(body as SessionChallenge, { ...PERSONS_BROWSER, ...changes });
  const opened = await post(made);
  expect(opened.status).toBe(200);
  const { jti } = opened.body as { jti: string };
  const { scores } = await manage<History>(stack(), '/protect/risk-history', { jti });
  expect(scores.at(-1)!.parts.map((part) => part.detector)).toContain(detector);
  expect(scores.at(-1)!.risk_score).toBeGreaterThanOrEqual(puzzleRow.minScore);
  const next = await browse(`${stack().edgeUrl}/echo/next`, { headers: { ...headers, cookie: opened.cookie } });
  expect(next.status).toBe(403);
});
