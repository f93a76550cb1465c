/**
 * Chooses what a visitor has to do: the site's settings, made harder by the traffic filter and by the access rule that
 * matched, and never made easier by anything the visitor sends. Pure: facts in, plan out.
 */
import type { SiteSettings, TrafficRule } from '../../contract/management/site-settings.ts';
import type { VerifyReason } from '../../contract/captcha/siteverify.ts';
import type { CaptchaType, ChallengeKind, PowLane } from '../../contract/vocabulary.ts';
import type { ChallengeLane } from '../seal/sealed-course.ts';
import { trafficRefusal, trafficRuleOf } from './traffic-filter.ts';
import type { AddressTraits } from './traffic-filter.ts';

/** What the matching access control rule demands. */
export interface AccessDemand {
  type: 'block' | 'restrict';
  captchaType?: CaptchaType;
  powDifficulty?: number;
  solvedImagesCount?: number;
  unsolvedImagesCount?: number;
  imageThreshold?: number;
  /** Added to the score. */
  frictionlessScore?: number;
  /** Changes nothing here; the token is refused at verification. */
  deferToVerify?: boolean;
}

export interface Capabilities {
  bigint: boolean;
  worker: boolean;
  /** `false`: no script at all, so only waiting is possible. */
  script: boolean;
  /** The visitor asked for the task that needs no eyes. */
  audio: boolean;
}

export interface ChallengePlan {
  kind: ChallengeKind;
  lane: ChallengeLane;
  /** Lane of the proof of work. Every kind begins with one, so that nothing is drawn before it is paid for. */
  workLane: PowLane;
  powDifficulty: number;
  imageRounds: number;
  imageUncounted: number;
  imageThreshold: number;
  puzzleTolerance: number;
  /** 0–4. */
  puzzleHardness: number;
  /** How the puzzle differs from the site's own look. */
  puzzleLook: NonNullable<TrafficRule['puzzle']>;
  /** Characters of noise in the response. */
  padBytes: number;
  /** Sealed into the challenge; it takes effect at verification. */
  refusal: VerifyReason | null;
}

export interface ChooseInputs {
  settings: SiteSettings;
  score: number;
  webView: boolean;
  traits: AddressTraits;
  demand: AccessDemand | null;
  /** What the Protect instance demands at this session's risk. It can only make the challenge harder. */
  difficulty?: { captchaType?: ChallengeKind | undefined; powDifficulty?: number | undefined } | null;
  capabilities: Capabilities;
}

/** Where images and puzzles are switched off, a suspicious visitor works four times as long. */
const INSTEAD_OF_PICTURES_DIFFICULTY = 3;
const POW_DIFFICULTY_MAX = 10;
const HARSHNESS: Record<ChallengeKind, number> = { pow: 0, puzzle: 1, image: 2 };

/** `null`: a visitor without script who must not pass by waiting. */
export function chooseChallenge(inputs: ChooseInputs): ChallengePlan | null {
  const { settings, demand, capabilities } = inputs;
  const traffic = trafficRuleOf(settings.trafficFilter, inputs.traits);
  const challenged = traffic?.rule.action === 'challenge' ? traffic.rule : null;
  const chosen = kindByScore(settings, inputs);
  const demanded = demand?.captchaType;
  let kind = demanded !== undefined && demanded !== 'frictionless' ? demanded : chosen.kind;
  if (challenged?.captchaType !== undefined) kind = harsher(kind, challenged.captchaType);
  if (inputs.difficulty?.captchaType !== undefined) kind = harsher(kind, inputs.difficulty.captchaType);
  const powDifficulty = Math.max(
    (demand?.powDifficulty ?? settings.powDifficulty) + chosen.extraDifficulty,
    challenged?.powDifficulty ?? 0,
    inputs.difficulty?.powDifficulty ?? 0,
  );
  const workLane = workLaneOf(capabilities);
  // Waiting does not replace a picture, and a visitor who is likely a bot must not pass by it.
  if (workLane === 'wait' && (kind !== 'pow' || chosen.suspicious)) return null;
  return {
    kind,
    lane: kind === 'pow' ? workLane : capabilities.audio ? 'audio' : 'visual',
    workLane,
    powDifficulty: Math.min(POW_DIFFICULTY_MAX, powDifficulty),
    imageRounds: Math.min(
      settings.imageMaxRounds,
      Math.max(demand?.solvedImagesCount ?? settings.imageMinRounds, challenged?.solvedImagesCount ?? 1),
    ),
    imageUncounted: demand?.unsolvedImagesCount ?? 0,
    imageThreshold: demand?.imageThreshold ?? settings.imageThreshold,
    puzzleTolerance: Math.min(settings.puzzleTolerance, challenged?.puzzleTolerance ?? settings.puzzleTolerance),
    puzzleHardness: Math.min(settings.puzzleMaxDifficulty, Math.round(inputs.score * settings.puzzleMaxDifficulty)),
    puzzleLook: challenged?.puzzle ?? {},
    padBytes: traffic?.rule.padBytes ?? 0,
    refusal: refusalOf(inputs),
  };
}

function refusalOf(inputs: ChooseInputs): VerifyReason | null {
  const { settings, demand, score } = inputs;
  if (demand !== null && (demand.type === 'block' || demand.deferToVerify === true)) return 'API.ACCESS_POLICY_BLOCK';
  const traffic = trafficRefusal(settings.trafficFilter, inputs.traits);
  if (traffic !== null) return traffic;
  if (settings.disallowWebView && inputs.webView) return 'API.DISALLOWED_WEBVIEW';
  if (settings.autoBanScoreThreshold !== undefined && score >= settings.autoBanScoreThreshold) {
    return 'API.BOT_SCORE_ABOVE_THRESHOLD';
  }
  return null;
}

function kindByScore(
  settings: SiteSettings,
  inputs: ChooseInputs,
): { kind: ChallengeKind; extraDifficulty: number; suspicious: boolean } {
  const { score } = inputs;
  const threshold = settings.frictionlessThreshold;
  const imageFrom = typeof threshold === 'number' ? threshold : threshold.frictionlessImageThreshold;
  const puzzleFrom = typeof threshold === 'number' ? threshold : threshold.frictionlessPuzzleThreshold;
  const suspicious = score >= puzzleFrom;
  const context = contextRuleOf(settings, inputs.webView);
  if (context !== null && score >= context.threshold) return { kind: context.type, extraDifficulty: 0, suspicious };
  if (settings.captchaType !== 'frictionless') return { kind: settings.captchaType, extraDifficulty: 0, suspicious };
  if (!suspicious) return { kind: 'pow', extraDifficulty: 0, suspicious };
  const { image, puzzle } = settings.frictionlessTypes;
  if (score >= imageFrom && image) return { kind: 'image', extraDifficulty: 0, suspicious };
  if (puzzle) return { kind: 'puzzle', extraDifficulty: 0, suspicious };
  if (image) return { kind: 'image', extraDifficulty: 0, suspicious };
  return { kind: 'pow', extraDifficulty: INSTEAD_OF_PICTURES_DIFFICULTY, suspicious };
}

function contextRuleOf(settings: SiteSettings, webView: boolean): { type: ChallengeKind; threshold: number } | null {
  const aware = settings.contextAware;
  if (aware?.enabled !== true) return null;
  return (webView ? aware.contexts.webview : undefined) ?? aware.contexts.default ?? null;
}

function workLaneOf({ script, bigint }: Capabilities): PowLane {
  if (!script) return 'wait';
  return bigint ? 'rsw' : 'sha256';
}

function harsher(a: ChallengeKind, b: ChallengeKind): ChallengeKind {
  return HARSHNESS[a] >= HARSHNESS[b] ? a : b;
}
