/** Which user agents name a tool instead of a person's browser. */

const HEADLESS = /headless|phantomjs|slimerjs/i;
const TOOL =
  /puppeteer|playwright|selenium|webdriver|python-requests|python-urllib|aiohttp|httpx|curl\/|wget\/|go-http-client|okhttp|libwww|scrapy|java\/|node-fetch|undici|axios/i;
/** Every browser's user agent has begun like this for twenty years. */
const BROWSER = /^(?:Mozilla|Opera)\//;

export function isHeadlessAgent(userAgent: string): boolean {
  return HEADLESS.test(userAgent);
}

/** A tool that names itself, or a name that is not in the form of a browser's. Not for headless browsers. */
export function isAutomationAgent(userAgent: string): boolean {
  return userAgent !== '' && !isHeadlessAgent(userAgent) && (TOOL.test(userAgent) || !BROWSER.test(userAgent));
}
