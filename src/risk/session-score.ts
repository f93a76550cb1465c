/**
 * The risk score of a session: the sum of the weights of the detectors that fire, capped at 1 and rounded to two
 * decimals. Each detector is a condition on plain facts about the session, so every score can be explained by its parts.
 */
import { detectorBits, detectorsOf, type RiskDetector } from '../contract/edge/risk-detectors.ts';
import type { TelemetryTrait } from '../contract/edge/page-report-names.ts';
import { isAutomationAgent } from './bot-user-agent.ts';
import { detectorNames, sessionWeight } from './detectors.ts';
import type { EnvironmentFinding } from './environment/environment-findings.ts';
import type { RiskFacts, TelemetryFacts } from './facts.ts';
import { handlessActions } from './hands.ts';
import { claimedBrowser } from './headers/claimed-browser.ts';
import { type RequestDetector, sharedConditions, type SharedDetector } from './headers/request-risk.ts';
import { unknownRequest } from './headers/request-facts.ts';
import { isHeadlessAgent } from './headers/tool-user-agent.ts';

export interface RiskPart {
  detector: RiskDetector;
  weight: number;
}

export interface RiskScore {
  /** 0 to 1. */
  score: number;
  /** `detectorBits` of the detectors that fired and count. */
  detectors: number;
}

export interface ExplainedScore extends RiskScore {
  /** `detectorBits` of those that fired and that the instance ignores. */
  ignored: number;
}

/** Pages report after four seconds, and a session is renewed after three minutes at the earliest. */
const TELEMETRY_DUE_MS = 120_000;
/** Pages report a second time then. Most people have touched a page by that time. */
const STILL_AFTER_MS = 30_000;
const STILL_REPORTS = 3;
const UNTRUSTED_MIN = 10;
/** One leap happens to people: a window in front was closed while the pointer moved over it. */
const LEAPS_MIN = 2;
/** Fewer pauses than this can look equal by chance, even a person's. */
const KEY_GAPS_MIN = 10;
/** People vary by a third of their pace or more, and trained typists by a fifth. */
const EVEN_DEVIATION_SHARE = 0.08;
/** 50 keys a second, faster than anyone types. */
const QUICKEST_GAP_MS = 20;
/** Fewer happen by chance. */
const HANDLESS_MIN = 3;
const HANDLESS_LONG = 8;
/** One page alone decides nothing. */
const HANDLESS_REPORTS = 2;
const HOPS_MIN = 3;
/** Five requests a second for a whole minute. A page with its pictures stays below. */
const BURST_PER_MINUTE = 300;
/** Not `no-plugins`: a person's Chrome that is set to download PDF files has none either. */
const headlessTraits: readonly TelemetryTrait[] = ['no-languages', 'zero-window', 'no-chrome-object'];

/** Findings that are detectors of their own. The others join detectors that also look at telemetry. */
const ownFindings = [
  'contradictory-engine',
  'contradictory-version',
  'contradictory-system',
  'worker-differs',
  'contradictory-renderer',
  'software-rendering',
  'impossible-window',
  'contradictory-permission',
  'implausible-environment',
  'wrong-answers',
  'no-page-load',
] as const satisfies readonly (EnvironmentFinding & RiskDetector)[];

type Condition = (facts: RiskFacts) => boolean;
/** The edge evaluates the others, on every request. */
type SessionDetector =
  | Exclude<RiskDetector, Exclude<RequestDetector, SharedDetector>>
  | 'automation-user-agent'
  | 'headless-user-agent';

/** A page reports traits when it opens a session and with its telemetry. */
const has = ({ environment, telemetry }: RiskFacts, trait: TelemetryTrait): boolean =>
  telemetry.traits.includes(trait) || environment?.traits.includes(trait) === true;
const found = ({ environment }: RiskFacts, finding: EnvironmentFinding): boolean =>
  environment?.findings.includes(finding) === true;
/** Room beside the page is a person's panel, unless the sizes of the window are made up anyway. */
const isDriven: Condition = (facts) =>
  has(facts, 'debugger') || (has(facts, 'developer-tools') && found(facts, 'impossible-window'));
const claimsHeadless: Condition = (facts) => isHeadlessAgent(facts.userAgent) || has(facts, 'headless-agent');
const handless = ({ telemetry: { hands } }: RiskFacts): number => (hands ? handlessActions(hands) : 0);
const handlessThroughout: Condition = (facts) =>
  handless(facts) >= HANDLESS_LONG && (facts.telemetry.handless ?? 0) >= HANDLESS_REPORTS;
const inputs = ({ pointerMoves, presses, keys, wheels }: TelemetryFacts): number =>
  pointerMoves + presses + keys + wheels;

/** Of one request: its headers, as far as the call that opened the session has them, and its address. */
const ofOpening = Object.fromEntries(
  Object.entries(sharedConditions).map(([name, condition]) => [
    name,
    ({ userAgent, headers, categories }: RiskFacts) =>
      condition({
        userAgent,
        claim: claimedBrowser(userAgent),
        headers: headers && { ...unknownRequest, method: 'POST', ...headers },
        categories,
        ja4: null,
      }),
  ]),
) as Record<SharedDetector, Condition>;

const conditions: Readonly<Record<SessionDetector, Condition>> = {
  ...ofOpening,
  'automation-user-agent': (facts) => !claimsHeadless(facts) && isAutomationAgent(facts.userAgent),
  'headless-user-agent': claimsHeadless,
  webdriver: (facts) => has(facts, 'webdriver'),
  'automation-global': (facts) => has(facts, 'automation-global'),
  'patched-browser': (facts) =>
    has(facts, 'patched-webdriver') ||
    has(facts, 'brands-mismatch') ||
    found(facts, 'replaced-natives') ||
    found(facts, 'contradictory-page'),
  'headless-traits': (facts) =>
    !claimsHeadless(facts) && (headlessTraits.some((trait) => has(facts, trait)) || found(facts, 'windowless-traits')),
  'cdp-traits': (facts) => has(facts, 'cdp-pointer'),
  'debugger-attached': isDriven,
  'developer-tools': (facts) => has(facts, 'developer-tools') && !isDriven(facts),
  'instant-presses': (facts) => has(facts, 'instant-presses'),
  'suspected-agent': (facts) => facts.telemetry.isAgent === true || handlessThroughout(facts),
  'no-hands': (facts) => handless(facts) >= HANDLESS_MIN,
  'no-hands-throughout': handlessThroughout,
  ...(Object.fromEntries(ownFindings.map((name) => [name, (facts: RiskFacts) => found(facts, name)])) as Record<
    (typeof ownFindings)[number],
    Condition
  >),
  // Who disguises the page and not its workers has replaced functions of the page: one sign.
  'worker-differs': (facts) => found(facts, 'worker-differs') && !found(facts, 'replaced-natives'),
  'untrusted-events': ({ telemetry }) =>
    telemetry.untrusted >= UNTRUSTED_MIN && telemetry.untrusted > inputs(telemetry),
  'no-interaction': ({ telemetry }) =>
    !telemetry.interacted && (telemetry.visibleMs >= STILL_AFTER_MS || telemetry.reports >= STILL_REPORTS),
  'pointer-without-path': ({ telemetry }) => telemetry.leaps >= LEAPS_MIN,
  'machine-typing': ({ telemetry: { typing } }) =>
    typing.gaps >= KEY_GAPS_MIN &&
    (typing.meanMs < QUICKEST_GAP_MS || typing.deviationMs < typing.meanMs * EVEN_DEVIATION_SHARE),
  'telemetry-absent': ({ telemetry, ageMs }) => telemetry.reports === 0 && ageMs >= TELEMETRY_DUE_MS,
  'implausible-telemetry': ({ telemetry }) => telemetry.implausible > 0,
  'cookie-cycling': ({ idleSessions, touchedSessions, cyclingThreshold }) =>
    idleSessions >= cyclingThreshold && idleSessions > touchedSessions,
  'address-change': ({ addressChanges }) => addressChanges > 0,
  'address-hopping': ({ addressChanges }) => addressChanges >= HOPS_MIN,
  'user-agent-change': ({ userAgentChanges }) => userAgentChanges > 0,
  burst: ({ requestsPerMinute }) => requestsPerMinute >= BURST_PER_MINUTE,
};

/** In the order of the table of detectors. */
const ordered = detectorNames.filter((name): name is SessionDetector => name in conditions);

export function scoreRisk(facts: RiskFacts): ExplainedScore {
  const fired = ordered.filter((name) => conditions[name](facts));
  const counted = fired.filter((name) => !facts.ignoredDetectors.includes(name));
  const sum = counted.reduce((total, name) => total + sessionWeight(name), 0);
  return {
    score: Math.min(1, Math.round(sum * 100) / 100),
    detectors: detectorBits(counted),
    ignored: detectorBits(fired.filter((name) => facts.ignoredDetectors.includes(name))),
  };
}

/** The parts of a score that was stored as bits, in the table's order. */
export function riskParts(bits: number): RiskPart[] {
  const names = new Set<RiskDetector>(detectorsOf(bits));
  return ordered.filter((name) => names.has(name)).map((name) => ({ detector: name, weight: sessionWeight(name) }));
}
