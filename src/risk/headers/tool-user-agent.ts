/**
 * Which user agents name a tool, without isbot's long list: short enough for the edge, which asks on every request.
 */
const HEADLESS = /headless|phantomjs|slimerjs/i;
/** Names of tools. One that adds a crawler's words to its user agent is still a tool. */
const TOOL =
  /puppeteer|playwright|selenium|webdriver|python-|aiohttp|httpx|curl\/|wget\/|go-http-client|okhttp|libwww-perl|scrapy|java\/|node-fetch|undici|axios/i;
/** Every browser's user agent has begun like this for twenty years, with something in brackets. */
const BROWSER = /^(?:Mozilla|Opera)\/\d[^(]{0,40}\(/;
/** Name and version, as browsers do that never claimed to be Mozilla. */
const SMALL = /^(?!Mozilla)[A-Za-z]\w*(?:\/\d| \()/;
/** Libraries name their language or no system at all. */
const ON_SYSTEM = /\([^)]*\b(?:Linux|X11|Windows|Macintosh|\w*BSD|Haiku|RISC ?OS|Amiga\w*)\b/;
/** How a crawler introduces itself in a user agent of a browser's form. */
const CRAWLER = /\bcompatible;|bot\b|crawler|spider/i;

export function isHeadlessAgent(userAgent: string): boolean {
  return HEADLESS.test(userAgent);
}

/** Names a tool, in whatever form. */
export function namesTool(userAgent: string): boolean {
  return TOOL.test(userAgent);
}

/** Names a tool, or has no browser's form. A headless browser that says so has a detector of its own. */
export function isToolAgent(userAgent: string): boolean {
  return userAgent !== '' && !isHeadlessAgent(userAgent) && (!BROWSER.test(userAgent) || namesTool(userAgent));
}

/**
 * A browser in a form of its own, such as those for terminals: it takes compressed pages, names no tool, and either the
 * system that it runs on, or in `Accept` what it can show. Programs ask for anything.
 */
export function isSmallBrowser(
  userAgent: string,
  { accept, acceptEncoding }: { accept: string | null; acceptEncoding: string | null },
): boolean {
  if (acceptEncoding?.includes('gzip') !== true || !SMALL.test(userAgent)) return false;
  if (namesTool(userAgent) || isSelfNamedCrawler(userAgent)) return false;
  return ON_SYSTEM.test(userAgent) || /^(?:text|image)\/[^*]/.test(accept ?? '');
}

/** Says in a browser's form that it crawls. Whether it is whom it names, only its address can show. */
export function isSelfNamedCrawler(userAgent: string): boolean {
  return CRAWLER.test(userAgent);
}
