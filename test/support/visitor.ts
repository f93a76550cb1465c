/**
 * A visitor in Chromium for browser tests. Every test gets a context and a tab of its own, and the console's errors and
 * warnings. One Chromium serves all files that run in a process.
 */
import type { Browser, BrowserContext, BrowserContextOptions, ConsoleMessage, Page } from 'playwright-core';
import { afterEach, beforeEach, expect } from 'vitest';
import { chromiumVersion, launchChromium } from './chromium.ts';
import { WAIT_MS } from './eventually.ts';

/** The user agent of a browser with a window, for tests that must not depend on a headless one. */
export const USER_AGENT = `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${chromiumVersion()}.0.0.0 Safari/537.36`;

export interface VisitorOptions {
  /** Options of the browser context. */
  context?: BrowserContextOptions;
  /** Console messages that a test expects: Chromium logs every 403, also an expected one. */
  expected?: (message: ConsoleMessage) => boolean;
  /** Fails a test with any complaint in its console. */
  isSilent?: boolean;
}

export interface Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors and warnings in the console, and uncaught exceptions, in order. */
  readonly complaints: readonly string[];
  /** Starts again in a new context, as another visitor. */
  comesAs(options: BrowserContextOptions): Promise<void>;
}

let running: Browser | undefined;

/** It ends with the process. One that crashed is replaced. */
export async function sharedChromium(): Promise<Browser> {
  if (running?.isConnected() !== true) running = await launchChromium();
  return running;
}

/** Opens the context before every test of the file and closes it after. */
export function useVisitor(options: VisitorOptions = {}): Visitor {
  let context: BrowserContext | undefined;
  let page: Page | undefined;
  const complaints: string[] = [];

  async function comesAs(wanted: BrowserContextOptions): Promise<void> {
    await context?.close();
    complaints.length = 0;
    context = await (await sharedChromium()).newContext(wanted);
    context.setDefaultTimeout(WAIT_MS);
    page = await context.newPage();
    page.on('console', (message) => {
      const isComplaint = message.type() === 'error' || message.type() === 'warning';
      if (isComplaint && options.expected?.(message) !== true) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
  }

  beforeEach(() => comesAs(options.context ?? {}));
  afterEach(async () => {
    await context?.close();
    context = undefined;
    if (options.isSilent === true) expect(complaints).toEqual([]);
  });
  const started = <Part>(part: Part | undefined): Part => {
    if (part === undefined) throw new Error('The visitor is used before a test begins');
    return part;
  };
  return {
    get context() {
      return started(context);
    },
    get page() {
      return started(page);
    },
    complaints,
    comesAs,
  };
}
