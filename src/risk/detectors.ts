/**
 * The one table of detectors: name, weight in each score, what it compares, and which legitimate clients may trip it.
 * A score is the sum of the weights of the detectors that fire. Weights follow one rule: a weak sign alone changes
 * nothing, two or three together reach the challenge threshold (0.5), and only several kinds of signs reach the block
 * threshold (0.85). `session-score.ts` and `captcha-score.ts` hold the conditions. docs/risk.md prints this table.
 */
import type { RiskDetector } from '../contract/edge/risk-detectors.ts';

export interface Detector {
  /** `null`: that score does not use this detector. */
  weights: { session: number | null; captcha: number | null };
  compares: string;
  /** Legitimate clients that may trip it. */
  mayTrip: string;
  /** Why the two weights differ, or why one is `null`. Absent when both scores share one weight. */
  reason?: string;
}

/** A score that differs from the other one for the same reason gives it in the same words. */
export const reasons = {
  noReports: 'No page has reported when a captcha is chosen. The session score counts it and joins the captcha score.',
  noHistory: 'A captcha sees one request. The session score counts what came before and joins the captcha score.',
  everyRequest: 'The edge sees it on every request, and its score joins the captcha score.',
  noHeaders: 'A captcha request shows only whether Accept-Language and Sec-Fetch-* are present.',
  addressFirst:
    'At a captcha little more is known than the address, and a mistake costs one picture task. A session can be blocked.',
  planted:
    'Somebody else may have planted the cookie, so the session score only records it. The solution of a captcha is the visitor’s own.',
  solving: 'Only solving a challenge shows it.',
  backend: 'Only the site’s backend names the second address, when it verifies.',
  throughEdge: 'A session is always opened through an edge, which reports the host itself.',
  embedded: 'An app can embed a page to pass its captchas on. A session in an app is judged by what its pages report.',
} as const;

const both = (weight: number) => ({ weights: { session: weight, captcha: weight } });
const differing = (session: number, captcha: number, reason: string) => ({ weights: { session, captcha }, reason });
const sessionOnly = (session: number, reason: string) => ({ weights: { session, captcha: null }, reason });
const captchaOnly = (captcha: number, reason: string) => ({ weights: { session: null, captcha }, reason });

/** In the order in which the parts of a score are listed. */
export const detectors = {
  'no-user-agent': {
    ...both(0.5),
    compares: 'The User-Agent header is missing or empty.',
    mayTrip: 'None: every browser sends it.',
  },
  'automation-user-agent': {
    ...both(0.5),
    compares:
      'The user agent names a tool (curl, a script library, a driver) or is not in the form of a browser’s. Not a small browser that names its system or asks for what it shows.',
    mayTrip: 'Monitoring services, and apps with their own HTTP client.',
  },
  'headless-user-agent': {
    ...both(0.5),
    compares: 'The user agent, as the server or the page sees it, names a headless browser.',
    mayTrip: 'Preview and screenshot services.',
  },
  'no-accept-language': {
    ...both(0.2),
    compares: 'The Accept-Language header is missing, and no-fetch-metadata does not say so already.',
    mayTrip: 'Visitors behind a privacy proxy that removes it.',
  },
  'no-fetch-metadata': {
    ...both(0.3),
    compares: 'No Sec-Fetch-* header, from a browser version that sends them over https.',
    mayTrip: 'Visitors behind a proxy that removes headers it does not know.',
  },
  'contradictory-fetch-metadata': {
    ...sessionOnly(0.3, reasons.noHeaders),
    compares: 'Some Sec-Fetch-* headers without the others, or values that no browser sends together.',
    mayTrip: 'Visitors behind a proxy that removes some of them.',
  },
  'no-client-hints': {
    ...sessionOnly(0.2, reasons.noHeaders),
    compares: 'Sec-Fetch-* headers and no Sec-CH-UA header, from Chromium 90 or newer.',
    mayTrip: 'A few privacy builds of Chromium.',
  },
  'contradictory-client-hints': {
    ...sessionOnly(0.4, reasons.noHeaders),
    compares: 'Sec-CH-UA names another version, system or kind of browser than the user agent.',
    mayTrip: 'Extensions that change the user agent and nothing else.',
  },
  'no-html-accept': {
    ...sessionOnly(0.3, reasons.everyRequest),
    compares: 'A browser’s user agent asks for a page, and its Accept header does not name text/html.',
    mayTrip: 'None known.',
  },
  'no-compression': {
    ...sessionOnly(0.2, reasons.everyRequest),
    compares: 'A browser’s user agent, and its Accept-Encoding header does not name gzip.',
    mayTrip: 'Visitors behind a virus scanner that reads pages uncompressed.',
  },
  'no-upgrade-request': {
    ...sessionOnly(0.2, reasons.everyRequest),
    compares: 'A navigation of Chromium or Firefox without Upgrade-Insecure-Requests.',
    mayTrip: 'Visitors behind a proxy that removes it.',
  },
  'contradictory-tls': {
    ...sessionOnly(0.4, reasons.everyRequest),
    compares: 'The JA4 fingerprint is of another family of browsers than the user agent, or of none.',
    mayTrip: 'Visitors behind a company’s proxy or a virus scanner that opens TLS.',
  },
  webdriver: {
    ...sessionOnly(0.5, reasons.noReports),
    compares: 'The browser sets navigator.webdriver.',
    mayTrip: 'Developers who test the site with a driven browser.',
  },
  'automation-global': {
    ...sessionOnly(0.4, reasons.noReports),
    compares: 'The page holds objects that an automation driver leaves behind.',
    mayTrip: 'Developers who test the site with a driven browser.',
  },
  'patched-browser': {
    ...sessionOnly(0.4, reasons.noReports),
    compares: 'Built-in properties or functions were replaced, or the page and the server see different browsers.',
    mayTrip: 'Extensions that disguise the browser.',
  },
  'headless-traits': {
    ...sessionOnly(0.3, reasons.noReports),
    compares:
      'The browser lacks what one with a window always has, and its user agent does not say that it is headless.',
    mayTrip: 'Rare embedded browsers without languages or window size.',
  },
  'cdp-traits': {
    ...sessionOnly(0.3, reasons.noReports),
    compares: 'Pointer events have screen coordinates or a pressure that only the DevTools protocol produces.',
    mayTrip: 'Developers who test the site with a driven browser.',
  },
  'debugger-attached': {
    ...sessionOnly(0.4, reasons.noReports),
    compares: 'A debugging protocol listens to the page, and no panel of developer tools takes room in the window.',
    mayTrip:
      'Developers with their tools in a window of their own or on a remote device, and assistants that operate the browser for a person.',
  },
  'developer-tools': {
    ...sessionOnly(0.2, reasons.noReports),
    compares: 'The same, beside a panel in the window.',
    mayTrip: 'Developers with their tools open.',
  },
  'contradictory-engine': {
    ...sessionOnly(0.4, reasons.noReports),
    compares: 'Errors, functions, globals or style properties of another engine than the user agent names.',
    mayTrip: 'Extensions that claim to be another browser.',
  },
  'contradictory-version': {
    ...sessionOnly(0.3, reasons.noReports),
    compares: 'The language has functions of a version four or more away from the one that the user agent names.',
    mayTrip: 'Extensions that claim another version, and experimental features that were turned on.',
  },
  'contradictory-system': {
    ...sessionOnly(0.3, reasons.noReports),
    compares: 'navigator.platform names another system than the user agent.',
    mayTrip: 'Extensions that claim another system.',
  },
  'worker-differs': {
    ...sessionOnly(0.3, reasons.noReports),
    compares:
      'A worker or an empty frame sees another user agent, system, language, number of cores or time zone, and no function of the page was replaced, which would explain it.',
    mayTrip: 'Extensions that disguise the page and not its workers.',
  },
  'contradictory-renderer': {
    ...sessionOnly(0.3, reasons.noReports),
    compares: 'The graphics driver is of another system than the user agent.',
    mayTrip: 'Extensions that claim another system.',
  },
  'software-rendering': {
    ...sessionOnly(0.2, reasons.noReports),
    compares: 'Chromium 141 or newer draws by SwiftShader, which it does only where it was told to.',
    mayTrip: 'Remote desktops whose administrator turned it on.',
  },
  'impossible-window': {
    ...sessionOnly(0.3, reasons.noReports),
    compares: 'A desktop window larger than its screen, or a screen whose orientation is not that of its sides.',
    mayTrip: 'Windows that reach over two screens.',
  },
  'contradictory-permission': {
    ...sessionOnly(0.2, reasons.noReports),
    compares: 'Two ways to ask for the same permission give different answers.',
    mayTrip: 'None known.',
  },
  'implausible-environment': {
    ...sessionOnly(0.5, reasons.noReports),
    compares: 'The page’s report of its browser contradicts itself, as one that was made up.',
    mayTrip: 'None known.',
  },
  'wrong-answers': {
    ...sessionOnly(0.4, reasons.noReports),
    compares:
      'Two answers to questions about the engine are wrong or missing, or the report was changed on its way to the service.',
    mayTrip: 'Browsers whose engine was changed by its maker, and extensions that claim another version.',
  },
  'instant-presses': {
    ...sessionOnly(0.2, reasons.noReports),
    compares: 'Most mouse presses, and at least two, were released within 8 ms.',
    mayTrip: 'Switches and voice control that press for a person, and some touchpads.',
  },
  'suspected-agent': {
    ...sessionOnly(0, reasons.noReports),
    compares:
      'A page has the marks that an assistant leaves while it operates the browser, or `no-hands-throughout` fires. It adds nothing to the score.',
    mayTrip: 'People whose assistant operates the browser for them.',
  },
  'no-hands': {
    ...sessionOnly(0.1, reasons.noReports),
    compares:
      'At least three presses at exact centres, movements in straight lines or fields filled without a key, and most of these actions were so.',
    mayTrip: 'Voice control and dictation that press and write for a person.',
  },
  'no-hands-throughout': {
    ...sessionOnly(0.2, reasons.noReports),
    compares: 'At least eight, in more than one report. It is added to `no-hands`.',
    mayTrip: 'The same, in long sessions.',
  },
  'untrusted-events': {
    ...sessionOnly(0.2, reasons.noReports),
    compares: 'At least 10 input events came from scripts, and more than came from the visitor.',
    mayTrip: 'Pages whose own scripts dispatch input events, and some accessibility extensions.',
  },
  'no-interaction': {
    ...sessionOnly(0.1, reasons.noReports),
    compares: 'A page was visible for 30 seconds, or pages reported three times, without any input.',
    mayTrip: 'People who only read.',
  },
  'pointer-without-path': {
    ...sessionOnly(0.2, reasons.noReports),
    compares: 'At least two mouse presses at places that the mouse did not travel to.',
    mayTrip: 'Eye trackers and remote control.',
  },
  'machine-typing': {
    ...sessionOnly(0.2, reasons.noReports),
    compares: 'At least 10 pauses between keys of equal length, or of under 20 ms on average.',
    mayTrip: 'Password managers that type.',
  },
  'telemetry-absent': {
    ...sessionOnly(0.25, reasons.noReports),
    compares: 'The session is two minutes old and none of its pages has reported.',
    mayTrip: 'Visitors with a content blocker.',
  },
  'implausible-telemetry': {
    ...sessionOnly(0.4, reasons.noReports),
    compares: 'A report claims more time than its session has lived, or its counts contradict each other.',
    mayTrip: 'None known.',
  },
  'no-page-load': {
    ...sessionOnly(0.1, reasons.noHistory),
    compares: 'The session was opened without a page that the edge had just handed to this network and browser.',
    mayTrip: 'Pages from a cache, pages with the script written in by hand, and phones that change networks on a page.',
  },
  'cookie-cycling': {
    ...sessionOnly(0.35, reasons.noHistory),
    compares:
      'The address (or /64) opened `cookieCycling.threshold` or more sessions without input in its window, and fewer with input.',
    mayTrip: 'Offices where most people only look.',
  },
  'address-change': {
    ...differing(0, 0.2, reasons.planted),
    compares: 'The cookie, or the solution of a captcha, came from another network.',
    mayTrip: 'Phones that move between networks.',
  },
  'address-hopping': {
    ...sessionOnly(0, reasons.planted),
    compares: 'The cookie changed networks at least three times.',
    mayTrip: 'Travellers.',
  },
  'user-agent-change': {
    ...sessionOnly(0, reasons.planted),
    compares: 'The cookie came with another user agent.',
    mayTrip: 'Browsers that were just updated, once.',
  },
  burst: {
    ...sessionOnly(0.25, reasons.noHistory),
    compares: 'The session made at least 300 requests in a minute.',
    mayTrip: 'Pages that load hundreds of files, opened in several tabs at once.',
  },
  'category-tor': {
    ...differing(0.35, 0.4, reasons.addressFirst),
    compares: 'The address is in the category "tor".',
    mayTrip: 'People who use Tor.',
  },
  'category-abuser': {
    ...differing(0.4, 0.5, reasons.addressFirst),
    compares: 'The address is in the category "abuser".',
    mayTrip: 'People who share an address with an abuser.',
  },
  'category-proxy': {
    ...differing(0.25, 0.3, reasons.addressFirst),
    compares: 'The address is in the category "proxy".',
    mayTrip: 'People behind the proxy of a company or a data saver.',
  },
  'category-vpn': {
    ...differing(0.15, 0.2, reasons.addressFirst),
    compares: 'The address is in the category "vpn".',
    mayTrip: 'People who use a VPN.',
  },
  'category-datacenter': {
    ...differing(0.25, 0.3, reasons.addressFirst),
    compares: 'The address is in the category "datacenter".',
    mayTrip: 'Cloud desktops, and companies whose traffic leaves through a cloud.',
  },
  'category-crawler': {
    ...differing(0.4, 0.5, reasons.addressFirst),
    compares: 'The address is in the category "crawler".',
    mayTrip: 'Crawlers that are no proved bots. Allow them with a rule.',
  },
  'unverified-host': {
    ...captchaOnly(0.2, reasons.throughEdge),
    compares: 'The page named its own host: there is no Origin header and no edge to confirm it.',
    mayTrip: 'Pages in apps and extensions, which have no origin.',
  },
  'web-view': {
    ...captchaOnly(0.1, reasons.embedded),
    compares: 'The user agent is the in-app browser of an app.',
    mayTrip: 'People who open a link inside an app.',
  },
  'native-solver': {
    ...captchaOnly(0.3, reasons.solving),
    compares:
      'A proof of work was solved in a quarter of a browser’s time: a solver in a hurry. Batches do not trip it.',
    mayTrip: 'None known.',
  },
  'too-fast': {
    ...captchaOnly(0.3, reasons.solving),
    compares: 'A picture, a puzzle or a recording was answered before a person can.',
    mayTrip: 'None known.',
  },
  'mechanical-path': {
    ...captchaOnly(0.2, reasons.solving),
    compares: 'The puzzle piece moved in a way that no hand moves.',
    mayTrip: 'Some assistive pointing devices.',
  },
  honeypot: {
    ...captchaOnly(1, reasons.solving),
    compares: 'The field that people leave empty was filled in.',
    mayTrip: 'Form fillers that complete every field.',
  },
  'flagged-address': {
    ...captchaOnly(0.3, reasons.backend),
    compares: 'The address that /siteverify names differs from the one of the challenge as `ipValidationRules` flags.',
    mayTrip: 'People who begin a form in one network and send it in another.',
  },
} as const satisfies Readonly<Record<string, Detector>>;

export type DetectorName = keyof typeof detectors;
export const detectorNames = Object.keys(detectors) as DetectorName[];
export type CaptchaDetector = {
  [Name in DetectorName]: (typeof detectors)[Name]['weights']['captcha'] extends number ? Name : never;
}[DetectorName];

/** Compiles only while every name on the wire has a session weight. */
export function sessionWeight(name: RiskDetector): number {
  return detectors[name].weights.session;
}

export function captchaWeight(name: CaptchaDetector): number {
  return detectors[name].weights.captcha;
}
