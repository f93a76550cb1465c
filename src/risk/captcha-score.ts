/**
 * The risk score of a visitor who asks for a captcha, and what solving it adds: the sum of the weights of the detectors
 * that fire, capped at 1 and rounded to two decimals. Only facts that the service sees for itself count, so a page
 * cannot lower its score by what it claims.
 */
import { isAutomationAgent } from './bot-user-agent.ts';
import { type CaptchaDetector, captchaWeight, detectorNames } from './detectors.ts';
import { claimedBrowser } from './headers/claimed-browser.ts';
import { addressConditions } from './headers/request-risk.ts';
import { isHeadlessAgent } from './headers/tool-user-agent.ts';

export interface ScoreInputs {
  userAgent: string;
  /** `null` when the request came through an edge, which does not pass these headers on. */
  headers: { acceptLanguage: boolean; fetchMetadata: boolean } | null;
  /** The page named its own host: there was no `Origin` header and no edge to confirm it. */
  hostUnverified: boolean;
  webView: boolean;
  categories: readonly string[];
  /** Score of the visitor's Protect session, or 0. */
  sessionRisk: number;
  /** `frictionlessScore` of the access rule that matched, or 0. */
  ruleScore: number;
}

export interface SolvingSigns {
  /** The solution came from another network than the challenge went to. */
  moved: boolean;
  /** The proof of work was done faster than a browser can. */
  nativeSolver: boolean;
  /** A picture or recording was answered before a person can. */
  tooSoon: boolean;
  /** The puzzle piece moved as no hand does. */
  mechanical: boolean;
  /** The field that people leave empty was filled in. */
  honeypot: boolean;
}

/** Judged when the site's backend verifies. */
type VerifyingDetector = 'flagged-address';
type SolvingDetector = 'address-change' | 'native-solver' | 'too-fast' | 'mechanical-path' | 'honeypot';

function lacksMetadata({ headers, userAgent }: ScoreInputs): boolean {
  return headers !== null && !headers.fetchMetadata && claimedBrowser(userAgent).sendsFetchMetadata;
}

const conditions: Readonly<
  Record<Exclude<CaptchaDetector, SolvingDetector | VerifyingDetector>, (inputs: ScoreInputs) => boolean>
> = {
  ...addressConditions,
  'automation-user-agent': ({ userAgent }) => isAutomationAgent(userAgent),
  'headless-user-agent': ({ userAgent }) => isHeadlessAgent(userAgent),
  // A proxy that removes headers is one sign, as in `headers/request-risk.ts`.
  'no-accept-language': (inputs) => inputs.headers?.acceptLanguage === false && !lacksMetadata(inputs),
  'no-fetch-metadata': lacksMetadata,
  'unverified-host': ({ hostUnverified }) => hostUnverified,
  'web-view': ({ webView }) => webView,
};

const solvingConditions: Readonly<Record<SolvingDetector, (signs: SolvingSigns) => boolean>> = {
  'address-change': ({ moved }) => moved,
  'native-solver': ({ nativeSolver }) => nativeSolver,
  'too-fast': ({ tooSoon }) => tooSoon,
  'mechanical-path': ({ mechanical }) => mechanical,
  honeypot: ({ honeypot }) => honeypot,
};

/** `session-risk` and `access-rule` among the detectors stand for scores that are computed elsewhere. */
export function scoreVisitor(inputs: ScoreInputs): { score: number; detectors: string[] } {
  const fired = firedOf(conditions, inputs);
  // The session's detectors count some of the same facts, so the higher of the two scores is taken, not their sum.
  const sum = Math.max(sumOf(fired), inputs.sessionRisk) + inputs.ruleScore;
  const detectors: string[] = [...fired];
  if (inputs.sessionRisk > 0) detectors.push('session-risk');
  if (inputs.ruleScore !== 0) detectors.push('access-rule');
  return { score: rounded(Math.min(1, Math.max(0, sum))), detectors };
}

/**
 * The score of a challenge, raised by what solving a round showed. A detector that fired in an earlier round does not
 * count again.
 */
export function scoreSolving(
  { score, detectors }: { score: number; detectors: readonly string[] },
  signs: SolvingSigns,
): { score: number; detectors: SolvingDetector[] } {
  const fired = firedOf(solvingConditions, signs).filter((name) => !detectors.includes(name));
  return { score: rounded(Math.min(1, score + sumOf(fired))), detectors: fired };
}

/** The score of a solved challenge whose verifying address the site flags. */
export function scoreFlagged({ score, detectors }: { score: number; detectors: readonly string[] }): {
  score: number;
  detectors: string[];
} {
  const flagged: VerifyingDetector = 'flagged-address';
  return { score: rounded(Math.min(1, score + captchaWeight(flagged))), detectors: [...detectors, flagged] };
}

/** In the order of the table of detectors. */
function firedOf<Name extends CaptchaDetector, Inputs>(
  table: Readonly<Record<Name, (inputs: Inputs) => boolean>>,
  inputs: Inputs,
): Name[] {
  return detectorNames.filter((name): name is Name => name in table && table[name as Name](inputs));
}

function sumOf(fired: readonly CaptchaDetector[]): number {
  return fired.reduce((total, name) => total + captchaWeight(name), 0);
}

function rounded(score: number): number {
  return Math.round(score * 100) / 100;
}
