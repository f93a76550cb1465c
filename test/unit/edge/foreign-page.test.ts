/** A page of another site loads pages of this one, so that its reader finds their budget used up. */
import { beforeEach, expect, test, vi } from 'vitest';
import { setClock } from '../../support/clock.ts';
import { NOW_MS, configOf } from './edge-fixture.ts';
import { edgeWith } from './whole-edge.ts';

const config = await configOf({ pendingBudget: 30 }, { detectorWeights: [] });
const ruleset = { version: 3, quietExplanation: '', match: () => ({ network: null, client: null, fired: [] }) };

beforeEach(() => {
  setClock(NOW_MS);
  return () => vi.restoreAllMocks();
});

/** What a browser sends for an element or a script of another site's page. */
const foreign = (dest: string, mode: string, accept = '*/*') => ({
  'sec-fetch-site': 'cross-site',
  'sec-fetch-dest': dest,
  'sec-fetch-mode': mode,
  accept,
});
const NAVIGATION = {
  'sec-fetch-site': 'none',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
  accept: 'text/html,*/*;q=0.8',
};

/** A visitor's browser, and how many of their requests get the origin's answer. */
function browser(type: string, shared: Record<string, string> = {}) {
  const origin = ({ url }: Request) =>
    new Response('content', { headers: { 'content-type': url.endsWith('.css') ? 'text/css' : type, ...shared } });
  const { request } = edgeWith({ state: { config, ruleset }, origin });
  return async (path: string, headers: Record<string, string>, times = 1): Promise<number> => {
    let answers = 0;
    for (let asked = 0; asked < times; asked++) {
      const response = await request(path, { headers: { 'user-agent': 'Mozilla/5.0', ...headers } });
      if ((await response.text()) === 'content') answers += 1;
    }
    return answers;
  };
}

test.each([
  ['pictures', foreign('image', 'no-cors')],
  ['scripts', foreign('script', 'no-cors')],
  ['calls that claim to ask for a page', foreign('empty', 'no-cors', 'text/html')],
  ['calls whose answer it cannot read', foreign('empty', 'cors')],
])('gets no pages as %s, and takes nothing from its reader', async (_, headers) => {
  const load = browser('text/html');
  expect(await load('/article', headers, 64)).toBe(0);
  expect(await load('/article', NAVIGATION, 40)).toBe(32);
  expect(await load('/style.css', { ...NAVIGATION, 'sec-fetch-dest': 'style', accept: 'text/css' })).toBe(1);
});

test('in frames takes no page of its reader’s reserve', async () => {
  const load = browser('text/html');
  expect(await load('/article', foreign('iframe', 'navigate', 'text/html'), 64)).toBe(30);
  expect(await load('/article', NAVIGATION, 40)).toBe(2);
});

test('gets what the site shares with others, within the budget', async () => {
  const shared = { 'access-control-allow-origin': '*' };
  expect(await browser('application/json', shared)('/feed', foreign('empty', 'cors'), 40)).toBe(32);
  expect(await browser('text/javascript')('/feed?callback=a', foreign('script', 'no-cors'), 40)).toBe(32);
  expect(await browser('image/png')('/logo', foreign('image', 'no-cors'), 40)).toBe(40);
});
