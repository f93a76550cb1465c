/**
 * Tools that only the lab uses. They are installed into a folder of their own (lab/README.md), so that `npm ci` stays
 * light. Where one is missing, its clients are left out.
 */
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { chromium } from 'playwright-core';

const folder = resolve(process.env['GATEHOUSE_LAB_TOOLS'] ?? '.lab');
const require = createRequire(pathToFileURL(join(folder, 'package.json')));

export type PlaywrightLauncher = Pick<typeof chromium, 'launch'>;

interface LaunchOptions {
  executablePath: string;
  browser?: 'firefox';
  headless?: boolean | 'shell';
  args: readonly string[];
  env?: NodeJS.ProcessEnv;
}
/** What the lab uses of Puppeteer's page. */
export interface PuppeteerPage {
  goto(url: string): Promise<unknown>;
  type(selector: string, text: string, options?: { delay: number }): Promise<void>;
  click(selector: string): Promise<void>;
  setUserAgent(options: { userAgent: string }): Promise<void>;
  evaluateOnNewDocument(script: () => void): Promise<unknown>;
}
export interface PuppeteerBrowser {
  newPage(): Promise<PuppeteerPage>;
  pages(): Promise<PuppeteerPage[]>;
  close(): Promise<void>;
  disconnect(): Promise<void>;
}
export interface Puppeteer {
  launch(options: LaunchOptions): Promise<PuppeteerBrowser>;
  connect(options: { browserURL: string; defaultViewport: null }): Promise<PuppeteerBrowser>;
}
interface WithPlugins<Tool> {
  addExtra: (tool: Tool) => Tool & { use(plugin: unknown): void };
}

interface WebElement {
  click(): Promise<void>;
  sendKeys(text: string): Promise<void>;
}
export interface SeleniumDriver {
  get(url: string): Promise<void>;
  findElement(by: unknown): Promise<WebElement>;
  sendDevToolsCommand(name: string, parameters: object): Promise<void>;
  quit(): Promise<void>;
}
interface SeleniumOptions {
  setChromeBinaryPath(path: string): void;
  addArguments(...args: readonly string[]): void;
  excludeSwitches(...switches: readonly string[]): void;
  debuggerAddress(address: string): void;
}
interface SeleniumBuilder {
  forBrowser(name: string): SeleniumBuilder;
  setChromeOptions(options: SeleniumOptions): SeleniumBuilder;
  setChromeService(service: unknown): SeleniumBuilder;
  build(): Promise<SeleniumDriver>;
}
export interface Selenium {
  Builder: new () => SeleniumBuilder;
  By: { css(selector: string): unknown };
  chrome: { Options: new () => SeleniumOptions; ServiceBuilder: new (program: string) => unknown };
}
export interface GhostCursor {
  click(selector: string): Promise<void>;
  move(selector: string): Promise<void>;
}

export function isInstalled(name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** A module of either kind. */
async function load<Module>(name: string): Promise<Module> {
  const loaded = (await import(pathToFileURL(require.resolve(name)).href)) as { default?: Module } & Module;
  return loaded.default ?? loaded;
}

export const puppeteer = (): Promise<Puppeteer> => load<Puppeteer>('puppeteer-core');
export const rebrowserPuppeteer = (): Promise<Puppeteer> => load<Puppeteer>('rebrowser-puppeteer-core');

export async function stealthyPuppeteer(): Promise<Puppeteer> {
  const { addExtra } = await load<WithPlugins<Puppeteer>>('puppeteer-extra');
  const extra = addExtra(await puppeteer());
  extra.use((await load<() => unknown>('puppeteer-extra-plugin-stealth'))());
  return extra;
}

/** Playwright with the plugin that was written for Puppeteer. */
export async function stealthyPlaywright(launcher: PlaywrightLauncher): Promise<PlaywrightLauncher> {
  const { addExtra } = await load<WithPlugins<PlaywrightLauncher>>('playwright-extra');
  const extra = addExtra(launcher);
  extra.use((await load<() => unknown>('puppeteer-extra-plugin-stealth'))());
  return extra;
}

/** Forks of Playwright that hide what the protocol leaves behind. */
export async function forkOfPlaywright(
  name: 'patchright-core' | 'rebrowser-playwright-core',
): Promise<PlaywrightLauncher> {
  return (await load<{ chromium: PlaywrightLauncher }>(name)).chromium;
}

export async function selenium(): Promise<Selenium> {
  const { Builder, By } = await load<Selenium>('selenium-webdriver');
  const chrome = await load<Selenium['chrome']>('selenium-webdriver/chrome.js');
  return { Builder, By, chrome };
}

export async function ghostCursor(page: PuppeteerPage): Promise<GhostCursor> {
  const { createCursor } = await load<{ createCursor: (page: PuppeteerPage) => GhostCursor }>('ghost-cursor');
  return createCursor(page);
}

/** Where an older Chromium without a window was unpacked (lab/README.md). */
export const olderChromium = process.env['GATEHOUSE_OLDER_CHROMIUM'];
