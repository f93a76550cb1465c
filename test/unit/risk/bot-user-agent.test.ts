/** What counts as a bot by its own user agent, and which of those the risk score judges. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isAutomationAgent, isBotUserAgent } from '../../../src/risk/bot-user-agent.ts';
import { isHeadlessAgent } from '../../../src/risk/headers/tool-user-agent.ts';
import { expectRows } from '../../support/rows.ts';

const inBrowserForm = (name: string): string =>
  `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) ${name} Safari/537.36`;

describe('a tool', () => {
  test('a tool is found by its own user agent and inside one of a browser’s form', () =>
    expectRows(
      (
        'puppeteer playwright selenium webdriver python-requests/2.32 python-urllib/3 aiohttp/3 httpx/0.27 curl/8.1 ' +
        'wget/1.21 go-http-client/2 okhttp/4.12 libwww-perl/6 scrapy/2.11 java/17 node-fetch/3 undici axios/1.6'
      ).split(' '),
      (name) => {
        for (const userAgent of [name, inBrowserForm(name)]) {
          expect([isBotUserAgent(userAgent), isAutomationAgent(userAgent)]).toEqual([true, true]);
        }
      },
    ));

  test.each([
    'Mozilla/5.0 (compatible; python-requests/2.31)',
    'Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2) selenium',
    `${inBrowserForm('Chrome/153.0.0.0')} ${'x'.repeat(600)} selenium`,
  ])('%s is a tool although it adds the words of a crawler or a long filler', (userAgent) => {
    expect(isAutomationAgent(userAgent)).toBe(true);
  });

  test.each(['node', 'Mozilla/5.0', 'tool'])('%s is not in the form of a browser', (userAgent) => {
    expect(isAutomationAgent(userAgent)).toBe(true);
  });
});

describe('a browser', () => {
  test('is not a bot', () =>
    expectRows(
      [
        inBrowserForm('Chrome/153.0.0.0'),
        'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0',
        'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15',
        'Mozilla/5.0 (iPhone; CPU iPhone OS 18_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 330.0',
        'Mozilla/5.0 (Linux; Android 10; CUBOT X30) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/153.0.0.0 Mobile Safari/537.36',
        'Mozilla/5.0 (Linux; Android 14; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/153.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/460.0.0.0;]',
        'Mozilla/5.0 (Windows NT 10.0; WOW64; Trident/7.0; rv:11.0) like Gecko',
      ],
      (userAgent) => {
        expect([isBotUserAgent(userAgent), isAutomationAgent(userAgent)]).toEqual([false, false]);
      },
    ));
});

test('a crawler of a search engine is a bot, but the score leaves it alone', () =>
  expectRows(
    [
      'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
      'Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X) AppleWebKit/537.36 Chrome/153.0 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
      'Mozilla/5.0 (compatible; Google-InspectionTool/1.0;)',
      'Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)',
    ],
    (userAgent) => {
      expect([isBotUserAgent(userAgent), isAutomationAgent(userAgent)]).toEqual([true, false]);
    },
  ));

test('a headless browser is a bot, and has a detector of its own', () => {
  const headless = inBrowserForm('HeadlessChrome/153.0');
  expect([isBotUserAgent(headless), isHeadlessAgent(headless), isAutomationAgent(headless)]).toEqual([
    true,
    true,
    false,
  ]);
});

test('text far beyond any browser’s user agent is not read', () => {
  expect(isBotUserAgent(`${inBrowserForm('Chrome/153.0.0.0')}${' '.repeat(512)}curl/8.1`)).toBe(false);
});

test('of the recorded sessions, every tool that names itself is found and no browser is taken for one', () => {
  const found = new Map<string, boolean>();
  for (const set of ['tune', 'report']) {
    const sessions = JSON.parse(readFileSync(`test/fixtures/risk/${set}.json`, 'utf8')) as {
      events: { userAgent?: string }[];
    }[];
    for (const { userAgent } of sessions.flatMap(({ events }) => events)) {
      if (userAgent !== undefined) found.set(userAgent, isBotUserAgent(userAgent));
    }
  }
  const bots = [...found]
    .filter(([, isBot]) => isBot)
    .map(([userAgent]) => /curl|node|Headless|python/.exec(userAgent)?.[0] ?? userAgent);
  expect(bots.toSorted()).toEqual(['Headless', 'Headless', 'curl', 'node', 'python']);
  expect(found.size - bots.length).toBe(16);
});
