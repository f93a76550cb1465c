/**
 * Which user agents name a tool instead of a person's browser. isbot keeps the list. The tools
 * below are listed here as well, because isbot misses some of them in a user agent of a browser's form. Only the service
 * carries isbot: the edge has no use for its 1.5 KiB.
 */
import { isbot } from 'isbot';
import { BoundedMap } from '../bytes/bounded-map.ts';
import { ownText } from '../bytes/own-text.ts';

const HEADLESS = /headless|phantomjs|slimerjs/i;
/** Names of tools. One that adds a crawler's words to its user agent is still a tool. */
const TOOL =
  /puppeteer|playwright|selenium|webdriver|python-|aiohttp|httpx|curl\/|wget\/|go-http-client|okhttp|libwww|scrapy|java\/|node-fetch|undici|axios/i;
/** Every browser's user agent has begun like this for twenty years. */
const BROWSER = /^(?:Mozilla|Opera)\//;
/** How a crawler introduces itself in a user agent of a browser's form. */
const CRAWLER = /\bcompatible;|bot\b|crawler|spider/i;
/** No browser's telling part lies further out, and a visitor chooses the length. */
const READ_MAX_CHARS = 512;
/** isbot takes 7 µs on a browser's user agent; real traffic has few of them. */
const remembered = new BoundedMap<boolean>(1000);

export function isHeadlessAgent(userAgent: string): boolean {
  return HEADLESS.test(userAgent);
}

/** A tool, a crawler or a headless browser that says so. */
export function isBotUserAgent(userAgent: string): boolean {
  const read = userAgent.slice(0, READ_MAX_CHARS);
  let isBot = remembered.get(read);
  if (isBot === undefined) {
    isBot = isbot(read) || TOOL.test(read) || isHeadlessAgent(read);
    // A slice would keep the whole header in memory, which may be long.
    remembered.set(ownText(read), isBot);
  }
  return isBot;
}

/**
 * A tool that names itself, or a name that is not in the form of a browser's. Not for headless browsers, nor for
 * crawlers in a browser's form: a search engine that says what it is would be challenged, and one that lies would not.
 * Access rules and the category `crawler` are for those.
 */
export function isAutomationAgent(userAgent: string): boolean {
  if (userAgent === '' || isHeadlessAgent(userAgent)) return false;
  return !BROWSER.test(userAgent) || TOOL.test(userAgent) || (isBotUserAgent(userAgent) && !CRAWLER.test(userAgent));
}
