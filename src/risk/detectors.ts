/**
 * The one table of risk detectors (design 6): a name, a weight, a predicate over plain facts. A score
 * is the sum of the weights of those that fire, so it is always explained by its parts. Weights are set
 * so that one weak sign decides nothing, two or three are challenged (0.5), and only what a browser
 * says of itself outright, or several signs of different kinds together, is blocked (0.85).
 */
import { isAutomationAgent, sendsFetchMetadata } from './captcha-score.ts';
import type { RiskDetector } from '../contract/edge/risk-detectors.ts';
import type { TelemetryTrait } from '../contract/edge/telemetry.ts';
import { contradictsFetchMetadata, contradictsHints, sendsClientHints } from './client-hints.ts';
import type { RiskFacts, TelemetryFacts } from './facts.ts';

export interface Detector {
  name: RiskDetector;
  weight: number;
  /** What it sees, and whom it may wrong. */
  why: string;
  fires(facts: RiskFacts): boolean;
}

/** The script reports after four seconds; a session that is renewed has lived three minutes. */
const TELEMETRY_DUE_MS = 120_000;
/** The script's second report; longer than most people look at a page without a hand on it. */
const STILL_AFTER_MS = 30_000;
const STILL_REPORTS = 3;
const UNTRUSTED_MIN = 10;
/** One may be a window that was in front and closed, with the pointer elsewhere by then. */
const LEAPS_MIN = 2;
/** Of fewer even a person's may look alike by chance. */
const KEY_GAPS_MIN = 10;
/** People vary by a third of their pace and more, trained ones by a fifth; nobody types 50 keys a second. */
const EVEN_DEVIATION_SHARE = 0.08;
const QUICKEST_GAP_MS = 20;
const HOPS_MIN = 3;
/** Five requests a second for a whole minute; a page with its pictures stays below. */
const BURST_PER_MINUTE = 300;

const HEADLESS = /headless|phantomjs|slimerjs/i;
/** Every browser's user agent has begun so for twenty years. */
const BROWSER = /^(?:Mozilla|Opera)\//;
/** Not `no-plugins`: a person's Chrome has none either once it is told to download PDF files. */
const headlessTraits: readonly TelemetryTrait[] = ['no-languages', 'zero-window', 'no-chrome-object'];

const has = (facts: RiskFacts, trait: TelemetryTrait): boolean => facts.telemetry.traits.includes(trait);
const saysHeadless = (facts: RiskFacts): boolean => HEADLESS.test(facts.userAgent) || has(facts, 'headless-agent');
const touched = ({ pointerMoves, presses, keys, wheels }: TelemetryFacts): number =>
  pointerMoves + presses + keys + wheels;

export const detectors: readonly Detector[] = [
  {
    name: 'no-user-agent',
    weight: 0.5,
    why: 'No browser leaves it out.',
    fires: ({ userAgent }) => userAgent === '',
  },
  {
    name: 'automation-user-agent',
    weight: 0.5,
    why: 'A tool that says so: curl, a script library, a driver; or a name that is no browser’s.',
    fires: (facts) =>
      facts.userAgent !== '' &&
      !saysHeadless(facts) &&
      (isAutomationAgent(facts.userAgent) || !BROWSER.test(facts.userAgent)),
  },
  {
    name: 'headless-user-agent',
    weight: 0.5,
    why: 'A browser without a window, by its own word.',
    fires: saysHeadless,
  },
  {
    name: 'no-accept-language',
    weight: 0.2,
    why: 'Every browser sends it; some privacy proxies take it off.',
    fires: ({ headers }) => headers !== null && !headers.acceptLanguage,
  },
  {
    name: 'no-fetch-metadata',
    weight: 0.3,
    why: 'The browser it claims to be has sent Sec-Fetch-* for years.',
    fires: ({ headers, userAgent }) =>
      headers !== null &&
      headers.secure &&
      headers.fetchSite === null &&
      headers.fetchMode === null &&
      headers.fetchDest === null &&
      sendsFetchMetadata(userAgent),
  },
  {
    name: 'contradictory-fetch-metadata',
    weight: 0.3,
    why: 'Some of Sec-Fetch-* without the others, or a pair that no browser sends.',
    fires: ({ headers }) => headers !== null && contradictsFetchMetadata(headers),
  },
  {
    name: 'no-client-hints',
    weight: 0.2,
    why: 'A Chromium browser without Sec-CH-UA; a few privacy builds do that.',
    fires: ({ headers, userAgent }) =>
      headers !== null && headers.secure && headers.uaBrands === null && sendsClientHints(userAgent),
  },
  {
    name: 'contradictory-client-hints',
    weight: 0.4,
    why: 'Sec-CH-UA names another version, system or kind of browser than the user agent.',
    fires: ({ headers, userAgent }) => headers !== null && contradictsHints(userAgent, headers),
  },
  {
    name: 'webdriver',
    weight: 0.5,
    why: 'navigator.webdriver: the browser says that it is driven.',
    fires: (facts) => has(facts, 'webdriver'),
  },
  {
    name: 'automation-global',
    weight: 0.4,
    why: 'Objects that a driver left in the page.',
    fires: (facts) => has(facts, 'automation-global'),
  },
  {
    name: 'patched-browser',
    weight: 0.4,
    why: 'Properties that tell of a driver were tampered with, or the script is told another browser than the server.',
    fires: (facts) => has(facts, 'patched-webdriver') || has(facts, 'patched-native') || has(facts, 'brands-mismatch'),
  },
  {
    name: 'headless-traits',
    weight: 0.3,
    why: 'What a browser with a window always has is missing, and it does not say that it has none.',
    fires: (facts) => !saysHeadless(facts) && headlessTraits.some((trait) => has(facts, trait)),
  },
  {
    name: 'cdp-traits',
    weight: 0.3,
    why: 'Pointer events with coordinates as the debugging protocol makes them up.',
    fires: (facts) => has(facts, 'cdp-pointer'),
  },
  {
    name: 'untrusted-events',
    weight: 0.2,
    why: 'More input events made by script than by hand.',
    fires: ({ telemetry }) => telemetry.untrusted >= UNTRUSTED_MIN && telemetry.untrusted > touched(telemetry),
  },
  {
    name: 'no-interaction',
    weight: 0.1,
    why: 'Pages were open, in sight, and never touched. Somebody who only reads looks the same for a while.',
    fires: ({ telemetry }) =>
      !telemetry.interacted && (telemetry.visibleMs >= STILL_AFTER_MS || telemetry.reports >= STILL_REPORTS),
  },
  {
    name: 'pointer-without-path',
    weight: 0.2,
    why: 'Clicks at places that the mouse never travelled to. Eye trackers and remote control do that too.',
    fires: ({ telemetry }) => telemetry.leaps >= LEAPS_MIN,
  },
  {
    name: 'machine-typing',
    weight: 0.2,
    why: 'Keys at one pace, or quicker than fingers. A password manager that types does that too.',
    fires: ({ telemetry: { typing } }) =>
      typing.gaps >= KEY_GAPS_MIN &&
      (typing.meanMs < QUICKEST_GAP_MS || typing.deviationMs < typing.meanMs * EVEN_DEVIATION_SHARE),
  },
  {
    name: 'telemetry-absent',
    weight: 0.25,
    why: 'A session lives on and its pages never reported: no script runs there, or a blocker stops it.',
    fires: ({ telemetry, ageMs }) => telemetry.reports === 0 && ageMs >= TELEMETRY_DUE_MS,
  },
  {
    name: 'implausible-telemetry',
    weight: 0.4,
    why: 'A report that no page can have made.',
    fires: ({ telemetry }) => telemetry.implausible > 0,
  },
  {
    name: 'cookie-cycling',
    weight: 0.35,
    why: 'The network opens session after session and touches few. An office where most only look comes close.',
    fires: ({ idleSessions, touchedSessions, cyclingThreshold }) =>
      idleSessions >= cyclingThreshold && idleSessions > touchedSessions,
  },
  {
    name: 'address-change',
    weight: 0.1,
    why: 'The same browser from another network: a phone does that, and so does a shared cookie.',
    fires: ({ addressChanges }) => addressChanges > 0,
  },
  {
    name: 'address-hopping',
    weight: 0.25,
    why: 'From network to network to network: a pool of proxies.',
    fires: ({ addressChanges }) => addressChanges >= HOPS_MIN,
  },
  {
    name: 'user-agent-change',
    weight: 0.3,
    why: 'The same cookie under another browser name. A browser update does it once.',
    fires: ({ userAgentChanges }) => userAgentChanges > 0,
  },
  {
    name: 'burst',
    weight: 0.25,
    why: 'More requests in a minute than pages make.',
    fires: ({ requestsPerMinute }) => requestsPerMinute >= BURST_PER_MINUTE,
  },
  category('tor', 0.35),
  category('abuser', 0.4),
  category('proxy', 0.25),
  category('vpn', 0.15),
  category('datacenter', 0.25),
  category('crawler', 0.4),
];

function category(name: 'tor' | 'abuser' | 'proxy' | 'vpn' | 'datacenter' | 'crawler', weight: number): Detector {
  return {
    name: `category-${name}`,
    weight,
    why: `The address belongs to the category "${name}".`,
    fires: ({ categories }) => categories.includes(name),
  };
}
