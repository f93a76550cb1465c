/**
 * Compares a page's report of its browser with the browser that the request claimed, once, when a session is opened.
 * Only what was found is kept, not the report.
 */
import type { ClientHeaders } from '../../contract/edge/edge-api.ts';
import type { EnvironmentSign, FamilyMark } from '../../contract/edge/page-report-names.ts';
import type { EnvironmentReport } from '../../contract/edge/page-reports.ts';
import { claimedBrowser } from '../headers/claimed-browser.ts';
import { cannotDraw, claimedEnvironment, type ClaimedEnvironment } from './claimed-environment.ts';
import { contradictsVersion } from './engine-version.ts';

interface Compared {
  report: EnvironmentReport;
  headers: ClientHeaders | null;
  /** Of the header. */
  claim: ClaimedEnvironment;
  /** Of what the page saw. */
  pageClaim: ClaimedEnvironment;
  isSameAgent: boolean;
  /** Whether the claimed browser has client hints on secure pages. */
  sendsClientHints: boolean;
}

/** Chromium of this version on draws by software only where it was told to, as without a window. */
const NO_SOFTWARE_DRAWING_SINCE = 141;
const MINIMAL_SIGNS_MIN = 2;
/** Each alone also describes some person's machine. */
const windowless: readonly EnvironmentSign[] = ['no-bars', 'smallest-screen', 'no-scrollbars', 'no-pointer'];

const chromiumMarks: readonly FamilyMark[] = ['chrome-object', 'hints', 'chromium-css'];
const geckoMarks: readonly FamilyMark[] = ['gecko-css', 'gecko-screen'];
/** Every version of Chromium and Firefox from here on has the oldest of the functions that are reported. */
const FEATURES_SINCE = 110;

const has = ({ report }: Compared, ...signs: readonly EnvironmentSign[]): boolean =>
  signs.some((sign) => report.signs.includes(sign));

const comparisons = {
  'contradictory-engine': ({ report, claim }) =>
    claim.scriptEngine !== null && (report.engine !== claim.scriptEngine || hasForeignMarks(report, claim)),
  'contradictory-version': ({ report, claim }) =>
    (claim.engine === 'chromium' || claim.engine === 'firefox') &&
    report.engine === claim.scriptEngine &&
    contradictsVersion(claim.engine, claim.major, report.features),
  'contradictory-page': (compared) => !compared.isSameAgent || contradictsHeaders(compared),
  'contradictory-system': ({ report, claim, pageClaim }) =>
    isOther(report.system, pageClaim.system) || (claim.engine === 'chromium' && isOther(report.system, claim.system)),
  'worker-differs': (compared) =>
    has(compared, 'worker-agent', 'worker-platform', 'worker-languages', 'worker-cores', 'worker-zone', 'frame'),
  'contradictory-renderer': ({ report, claim }) => report.renderer !== null && cannotDraw(claim, report.renderer),
  'software-rendering': ({ report, claim }) =>
    report.renderer === 'swiftshader' && claim.engine === 'chromium' && claim.major >= NO_SOFTWARE_DRAWING_SINCE,
  'impossible-window': (compared) => compared.claim.isDesktop && has(compared, 'beyond-screen', 'false-orientation'),
  'windowless-traits': (compared) =>
    compared.claim.isDesktop && windowless.filter((sign) => has(compared, sign)).length >= MINIMAL_SIGNS_MIN,
  'contradictory-permission': (compared) => has(compared, 'permission'),
  'replaced-natives': (compared) => has(compared, 'proxied-native', 'false-getter', 'false-plugins', 'full-version'),
  'implausible-environment': isImplausible,
} as const satisfies Readonly<Record<string, (compared: Compared) => boolean>>;

export type EnvironmentFinding = keyof typeof comparisons;
const findings = Object.keys(comparisons) as EnvironmentFinding[];

export function environmentFindings(
  report: EnvironmentReport,
  { userAgent, headers }: { userAgent: string; headers: ClientHeaders | null },
): EnvironmentFinding[] {
  const claim = claimedEnvironment(userAgent);
  const pageClaim = claimedEnvironment(report.userAgent);
  // Firefox that resists fingerprinting names another system in the header than in the page.
  const isSameSystem = claim.engine !== 'chromium' || pageClaim.system === claim.system;
  const isSameAgent = pageClaim.engine === claim.engine && pageClaim.major === claim.major && isSameSystem;
  const { sendsClientHints } = claimedBrowser(userAgent);
  const compared = { report, headers, claim, pageClaim, isSameAgent, sendsClientHints };
  return findings.filter((name) => comparisons[name](compared));
}

/** Globals and style properties of another family than the claimed one. */
function hasForeignMarks({ marks }: EnvironmentReport, { engine }: ClaimedEnvironment): boolean {
  const isChromium = marks.includes('hints') || marks.includes('chromium-css');
  const isGecko = marks.some((mark) => geckoMarks.includes(mark));
  const isWebKit = marks.includes('webkit-css');
  if (engine === 'chromium') return isGecko || isWebKit;
  if (engine === 'firefox') return isChromium || isWebKit;
  return engine === 'safari' && (isChromium || isGecko);
}

/** What the page reads of the user agent and the client hints, and what the same browser sent in its headers. */
function contradictsHeaders({ report: { hints }, headers }: Compared): boolean {
  if (headers === null || !headers.secure || headers.uaBrands === null) return false;
  if (hints === null) return true;
  const isSameMobile = headers.uaMobile === null || headers.uaMobile === (hints.mobile ? '?1' : '?0');
  const isSamePlatform = headers.uaPlatform === null || headers.uaPlatform === `"${hints.platform}"`;
  return !isSameMobile || !isSamePlatform || listed(headers.uaBrands) !== listed(hints.brands);
}

/** Browsers shuffle the list at every start. */
function listed(brands: string): string {
  return [...brands.matchAll(/"[^"]*";\s*v="[^"]*"/g)]
    .map(([brand]) => brand.replace(/;\s*/, ';'))
    .toSorted()
    .join();
}

function isOther(found: string, claimed: string | null): boolean {
  return claimed !== null && found !== 'other' && found !== claimed;
}

/** A report that no page of any browser makes: someone wrote it without one. */
function isImplausible({ report, headers, claim, sendsClientHints }: Compared): boolean {
  const { engine, marks, hints, features } = report;
  const isSecure = headers?.secure === true;
  if (marks.includes('hints') !== (hints !== null)) return true;
  if (engine === 'v8' && !marks.some((mark) => chromiumMarks.includes(mark))) return true;
  if (engine === 'gecko' && !marks.some((mark) => geckoMarks.includes(mark))) return true;
  if (engine === 'v8' && isSecure && sendsClientHints && hints === null) return true;
  return engine !== 'other' && claim.major >= FEATURES_SINCE && features === 0;
}
