/** What a browser without a window lacks is no sign in one that never had it. */
import { afterEach, expect, test, vi } from 'vitest';
import { browserTraits } from '../../../src/widget/environment/engine-facts.ts';
import { CHROME } from '../risk/session-facts.ts';

afterEach(() => vi.unstubAllGlobals());

/** Without an object of Chrome's and without plugins. */
function traitsAs(userAgent: string): string[] {
  vi.stubGlobal('navigator', { userAgent, languages: ['en'], plugins: [] });
  vi.stubGlobal('outerWidth', 800);
  vi.stubGlobal('outerHeight', 600);
  return browserTraits();
}

test('Chrome without its object is a headless one, also where it says so', () => {
  for (const userAgent of [CHROME, CHROME.replace('Chrome/', 'HeadlessChrome/')]) {
    expect(traitsAs(userAgent)).toEqual(['no-chrome-object', 'no-plugins']);
  }
});

test('another program’s frame for pages, which names itself before Chrome, never had it', () => {
  expect(traitsAs(CHROME.replace('Chrome/', 'QtWebEngine/6.4.2 Chrome/'))).toEqual([]);
});
