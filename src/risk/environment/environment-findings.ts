/**
 * Compares a page's report of its browser with the browser that the request claimed, once, when a session is opened.
 * Only what was found is kept, not the report.
 */
import type { ClientHeaders } from '../../contract/edge/edge-api.ts';
import {
  type EnvironmentSign,
  type FamilyMark,
  languageFeatures,
  type PageSystem,
  type Renderer,
  type ScriptEngine,
} from '../../contract/edge/page-report-names.ts';
import type { EnvironmentReport } from '../../contract/edge/page-reports.ts';
import { claimedBrowser, type Engine } from '../headers/claimed-browser.ts';

/** What the service found out itself when the report came. Absent in sessions that were recorded before there was such a thing. */
export type JudgedReport = EnvironmentReport & { hasWrongAnswers?: boolean; noPageLoad?: boolean };

interface Compared {
  report: JudgedReport;
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
  'wrong-answers': ({ report }) => report.hasWrongAnswers === true,
  'no-page-load': ({ report }) => report.noPageLoad === true,
} as const satisfies Readonly<Record<string, (compared: Compared) => boolean>>;

export type EnvironmentFinding = keyof typeof comparisons;
const findings = Object.keys(comparisons) as EnvironmentFinding[];

export function environmentFindings(
  report: JudgedReport,
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
  // A build without hints sends none either.
  if (engine === 'v8' && isSecure && headers.uaBrands !== null && sendsClientHints && hints === null) return true;
  return engine !== 'other' && claim.major >= FEATURES_SINCE && features === 0;
}

type Feature = (typeof languageFeatures)[number];
type Versioned = 'chromium' | 'firefox';

/**
 * From which version on an engine has a function of the language. Versions are those of MDN's compatibility data; some
 * versions of reserve allow for flags and for errors in it.
 */
const since: Readonly<Record<Versioned, Readonly<Record<Feature, number>>>> = {
  chromium: {
    findLast: 97,
    toSorted: 110,
    fromAsync: 121,
    union: 122,
    Iterator: 122,
    try: 128,
    escape: 136,
    fromBase64: 140,
    Temporal: 144,
  },
  firefox: {
    findLast: 104,
    toSorted: 115,
    fromAsync: 115,
    union: 127,
    Iterator: 131,
    try: 134,
    escape: 134,
    fromBase64: 133,
    Temporal: 139,
  },
};
const RESERVE = 4;

/** Whether an engine of this version has other functions. */
function contradictsVersion(engine: Versioned, major: number, features: number): boolean {
  return languageFeatures.some((name, place) => {
    const isThere = Math.floor(features / 2 ** place) % 2 === 1;
    return isThere ? major < since[engine][name] - RESERVE : major >= since[engine][name] + RESERVE;
  });
}

/** What the page of a browser must look like, by the browser that its user agent names. */
interface ClaimedEnvironment {
  /** `null`: a browser that is not known here, of which nothing is expected. */
  engine: Engine | null;
  scriptEngine: ScriptEngine | null;
  /** Major version of Chromium or Firefox; 0 for others. */
  major: number;
  system: PageSystem | null;
  /** With a mouse and a window. */
  isDesktop: boolean;
}

const scriptEngines: Readonly<Record<Engine, ScriptEngine>> = { chromium: 'v8', firefox: 'gecko', safari: 'jsc' };

function claimedEnvironment(userAgent: string): ClaimedEnvironment {
  const { engine, chromium, firefox } = claimedBrowser(userAgent);
  // The last Edge with an engine of its own called itself Chrome.
  const known = /\bEdge\/\d/.test(userAgent) ? null : engine;
  return {
    engine: known,
    scriptEngine: known && scriptEngines[known],
    major: chromium || firefox,
    system: systemOf(userAgent),
    isDesktop: !/Android|Mobile|iPad|Tablet/.test(userAgent),
  };
}

function systemOf(userAgent: string): PageSystem | null {
  if (/Windows NT/.test(userAgent)) return 'windows';
  if (/Macintosh|iPhone|iPad|iPod/.test(userAgent)) return 'apple';
  return /Linux|Android|CrOS|X11/.test(userAgent) ? 'linux' : null;
}

/** What never draws for this browser on this system. A driver of another system's graphics gives the system away. */
function cannotDraw({ engine, system }: ClaimedEnvironment, renderer: Renderer): boolean {
  if (engine === null || system === null) return false;
  if (renderer === 'direct3d') return system !== 'windows';
  if (renderer === 'metal') return system !== 'apple';
  if (renderer === 'vulkan') return system !== 'linux';
  // Chromium on Windows draws by Direct3D, even where there is no graphics card.
  if (renderer === 'opengl' || renderer === 'llvmpipe') return engine === 'chromium' && system === 'windows';
  return false;
}
