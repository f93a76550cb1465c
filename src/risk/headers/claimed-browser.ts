/**
 * Which browser a user agent claims to be, and what that browser sends by itself. The rest of a request is compared with
 * this claim. Parsed once per user agent and isolate.
 */
import { BoundedMap } from '../../bytes/bounded-map.ts';
import { isHeadlessAgent, isSelfNamedCrawler, isToolAgent } from './tool-user-agent.ts';

/** What renders the page and speaks TLS. On iOS every browser is built on Safari's. */
export type Engine = 'chromium' | 'firefox' | 'safari';

export interface ClaimedBrowser {
  /** `null`: no browser that is known here, or a crawler that says so. */
  engine: Engine | null;
  /** Major version of Chromium; 0 where the engine is another. */
  chromium: number;
  /** Major version of Firefox; 0 where the engine is another. */
  firefox: number;
  /** Sends `Sec-Fetch-*` to secure origins. */
  sendsFetchMetadata: boolean;
  /** Sends `Sec-CH-UA*` to secure origins. */
  sendsClientHints: boolean;
  isTool: boolean;
  isHeadless: boolean;
}

/** The first versions of which every build sends them, with some years of reserve for Chromium. */
const FETCH_METADATA_SINCE = { chromium: 90, firefox: 90, safari: 16.4 } as const;
const CLIENT_HINTS_SINCE_CHROMIUM = 90;
/** A longer user agent is parsed each time and takes no memory. */
const REMEMBERED_MAX_CHARS = 512;
const remembered = new BoundedMap<ClaimedBrowser>(1000);

export function claimedBrowser(userAgent: string): ClaimedBrowser {
  let claim = remembered.get(userAgent);
  if (claim === undefined) {
    claim = parsed(userAgent);
    if (userAgent.length <= REMEMBERED_MAX_CHARS) remembered.set(userAgent, claim);
  }
  return claim;
}

function parsed(userAgent: string): ClaimedBrowser {
  const isTool = isToolAgent(userAgent);
  const isHeadless = isHeadlessAgent(userAgent);
  const none = { chromium: 0, firefox: 0, sendsFetchMetadata: false, sendsClientHints: false, isTool, isHeadless };
  if (isTool || isSelfNamedCrawler(userAgent)) return { ...none, engine: null };
  const engine = engineOf(userAgent);
  if (engine === null) return { ...none, engine };
  const version = versionOf(engine, userAgent);
  return {
    ...none,
    engine,
    chromium: engine === 'chromium' ? version : 0,
    firefox: engine === 'firefox' ? version : 0,
    sendsFetchMetadata: version >= FETCH_METADATA_SINCE[engine],
    // Web views may omit them.
    sendsClientHints: engine === 'chromium' && version >= CLIENT_HINTS_SINCE_CHROMIUM && !isWebView(userAgent),
  };
}

function engineOf(userAgent: string): Engine | null {
  if (/iPhone|iPad|iPod/.test(userAgent)) return /AppleWebKit\//.test(userAgent) ? 'safari' : null;
  if (/Chrome\/\d/.test(userAgent)) return 'chromium';
  if (/Firefox\/\d/.test(userAgent)) return 'firefox';
  return /Version\/\d[\d.]* (?:Mobile\/\S+ )?Safari\//.test(userAgent) ? 'safari' : null;
}

/** 0 where the user agent does not say it, as of another browser on iOS. */
function versionOf(engine: Engine, userAgent: string): number {
  const pattern = { chromium: /Chrome\/(\d{1,4})/, firefox: /Firefox\/(\d{1,4})/, safari: /Version\/(\d{1,3}\.\d)/ };
  return Number(pattern[engine].exec(userAgent)?.[1] ?? 0);
}

/** Android's `; wv`, iOS WebKit without Safari's own token, and the well-known in-app browsers. */
export function isWebView(userAgent: string): boolean {
  if (/;\s*wv\)/.test(userAgent) || /\b(?:FBAN|FBAV|Instagram|Line\/|MicroMessenger)/.test(userAgent)) return true;
  return /iPhone|iPad/.test(userAgent) && /AppleWebKit/.test(userAgent) && !/Safari\//.test(userAgent);
}
