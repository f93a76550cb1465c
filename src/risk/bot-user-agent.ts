/**
 * Which user agents name a tool instead of a person's browser. isbot keeps the list. The tools of
 * `headers/tool-user-agent.ts` count as well, because isbot misses some of them in a user agent of a browser's form.
 * Only the service carries isbot: the edge has no use for its 1.5 KiB.
 */
import { isbot } from 'isbot';
import { BoundedMap, ownText } from '../bytes/bounded-map.ts';
import { isHeadlessAgent, isSelfNamedCrawler, isToolAgent, namesTool } from './headers/tool-user-agent.ts';

/** No browser's telling part lies further out, and a visitor chooses the length. */
const READ_MAX_CHARS = 512;
/** isbot takes 7 µs on a browser's user agent; real traffic has few of them. */
const remembered = new BoundedMap<boolean>(1000);

/** A tool, a crawler or a headless browser that says so. */
export function isBotUserAgent(userAgent: string): boolean {
  const read = userAgent.slice(0, READ_MAX_CHARS);
  let isBot = remembered.get(read);
  if (isBot === undefined) {
    isBot = isbot(read) || namesTool(read) || isHeadlessAgent(read);
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
  return isToolAgent(userAgent) || (isBotUserAgent(userAgent) && !isSelfNamedCrawler(userAgent));
}
