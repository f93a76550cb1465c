/**
 * The console of a test's stack in Chromium. One stack serves a file; every test gets a context of its own, signed in as
 * the owner. After each test nothing may have been refused by the content security policy, and no other host asked.
 */
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterEach, beforeEach, expect } from 'vitest';
import type { Stack } from '../../src/cli/stack.ts';
import { WAIT_MS } from './eventually.ts';
import { gatehouse } from './gatehouse.ts';
import { useStack } from './stack.ts';
import { sharedChromium } from './visitor.ts';

/** The console formats times and numbers by the browser's language, and the headless one has none that is valid. */
const CONTEXT: BrowserContextOptions = { locale: 'en-US', viewport: { width: 1280, height: 900 } };

export interface TestConsole {
  stack: () => Stack;
  readonly page: Page;
  readonly context: BrowserContext;
  /** Opens a view by its address below `/console` and waits for its title. */
  open(path: string): Promise<void>;
  /** Starts again in a new context. `cookie`: another person's session; `null`: nobody's. */
  comesAs(options: BrowserContextOptions, cookie?: string | null): Promise<void>;
  /** Messages in the browser's console that a test expects. The others fail it. */
  expectMessage(pattern: RegExp): void;
}

export function useConsole(options: Parameters<typeof useStack>[0] = {}): TestConsole {
  const stack = useStack(options);
  let owner: string | undefined;
  let context: BrowserContext | undefined;
  let page: Page | undefined;
  const complaints: string[] = [];
  const expected: RegExp[] = [];

  async function comesAs(wanted: BrowserContextOptions, cookie: string | null = owner ?? null): Promise<void> {
    await context?.close();
    context = await (await sharedChromium()).newContext({ ...CONTEXT, ...wanted });
    const { consoleUrl } = stack();
    if (cookie !== null) {
      const [name = '', value = ''] = cookie.split('=');
      await context.addCookies([{ name, value, url: consoleUrl, httpOnly: true, sameSite: 'Strict' }]);
    }
    context.setDefaultTimeout(WAIT_MS);
    page = await context.newPage();
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (!['data:', 'blob:'].includes(protocol) && origin !== new URL(consoleUrl).origin) {
        complaints.push(`asked another host: ${request.url()}`);
      }
    });
  }

  beforeEach(async () => {
    owner ??= await sessionByLink(stack(), stack().signInUrl);
    complaints.length = 0;
    expected.length = 0;
    await comesAs({});
  });
  afterEach(async () => {
    await context?.close();
    context = undefined;
    expect(complaints.filter((text) => !expected.some((pattern) => pattern.test(text)))).toEqual([]);
  });
  const started = <Part>(part: Part | undefined): Part => {
    if (part === undefined) throw new Error('The console is used before a test begins');
    return part;
  };
  return {
    stack,
    get page() {
      return started(page);
    },
    get context() {
      return started(context);
    },
    comesAs,
    expectMessage: (pattern) => void expected.push(pattern),
    async open(path) {
      await started(page).goto(new URL(`/console${path}`, stack().consoleUrl).href);
      await started(page).locator('h1').waitFor();
    },
  };
}

/**
 * The network fails during the `nth` call of this path. `answer`: the service made the change, and its response is lost.
 * `request`: the call never arrives.
 */
export async function loseCall(
  context: BrowserContext,
  path: string,
  lost: 'request' | 'answer',
  nth = 1,
): Promise<void> {
  let calls = 0;
  await context.route(`**${path}`, async (route) => {
    calls += 1;
    if (calls !== nth) return route.continue();
    if (lost === 'answer') await route.fetch();
    await route.abort('connectionfailed');
  });
}

/** What the browser's console says about it. */
export const NETWORK_MESSAGE = /ERR_(CONNECTION_FAILED|FAILED|INTERNET_DISCONNECTED)/;

/** A session's cookie, `name=value`, for a one-time link. */
export async function sessionByLink(stack: Pick<Stack, 'serviceUrl'>, url: string): Promise<string> {
  const { origin, hash } = new URL(url);
  const response = await fetch(`${stack.serviceUrl}/console/auth/link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin },
    body: JSON.stringify({ token: hash.replace('#link=', '') }),
  });
  const cookie = response.headers.getSetCookie()[0]?.split(';')[0];
  if (cookie === undefined) throw new Error(`The link does not sign in: ${response.status} ${await response.text()}`);
  return cookie;
}

/** A one-time link for a team member, made by the command. */
export async function signInLink(stack: Stack, email: string): Promise<string> {
  const { output } = await gatehouse(['signin', '--email', email], { state: stack.stateDir });
  return (JSON.parse(output) as { url: string }).url;
}
