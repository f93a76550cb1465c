/**
 * A visitor in Chromium for browser tests: a context and a tab of its own for every test, closed after it, and
 * whatever its console complained of. One Chromium serves all files that run in a process.
 */
import type { Browser, BrowserContext, BrowserContextOptions, ConsoleMessage, Page } from 'playwright-core';
import { afterEach, beforeEach, expect } from 'vitest';
import { launchChromium } from './chromium.ts';

/** What a browser with a window says of itself: for tests in which that word must not decide. */
export const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Safari/537.36';

export interface VisitorOptions {
  /** Of the browser context. */
  context?: BrowserContextOptions;
  /** What the console may say: Chromium notes every 403, also where that is the page that was meant to come. */
  expected?: (message: ConsoleMessage) => boolean;
  /** Fails every test that leaves a complaint. */
  isSilent?: boolean;
}

export interface Visitor {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors and warnings in the console, and uncaught exceptions, in order. */
  readonly complaints: readonly string[];
  /** Everything again from the beginning, as somebody else. */
  comesAs(options: BrowserContextOptions): Promise<void>;
}

let running: Browser | undefined;

/** Nobody closes it: it ends with the process, and one that crashed is followed by another. */
export async function sharedChromium(): Promise<Browser> {
  if (running?.isConnected() !== true) running = await launchChromium();
  return running;
}

/** Comes before every test of the file and is gone after it. */
export function useVisitor(options: VisitorOptions = {}): Visitor {
  let context: BrowserContext | undefined;
  let page: Page | undefined;
  const complaints: string[] = [];

  async function comesAs(wanted: BrowserContextOptions): Promise<void> {
    await context?.close();
    complaints.length = 0;
    context = await (await sharedChromium()).newContext(wanted);
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
