/**
 * Chooses what a visitor has to do: the site's settings, made harder by the traffic filter and by the access rule that
 * matched, and never made easier by anything the visitor sends. Pure: facts in, plan out.
 */
import type { SiteSettings, TrafficRule } from '../../contract/management/site-settings.ts';
import type { VerifyReason } from '../../contract/captcha/siteverify.ts';
import type { SiteDemand } from '../../contract/edge/edge-responses.ts';
import type { CaptchaType, ChallengeKind, PowLane } from '../../contract/vocabulary.ts';
import type { ChallengeLane } from '../seal/sealed-course.ts';
import { difficultyAt, harsher, kindOfLevel, levelWanted, siteKindAt, type InstanceDemand } from './demand.ts';
import { POW_DIFFICULTY_MAX } from './level-prices.ts';
import { trafficRefusal, trafficRuleOf, type AddressTraits } from './traffic-filter.ts';

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
  /** The Protect instance that asks, and the risk of the visitor's session there. It only makes the challenge harder. */
  instance?: { policy: InstanceDemand; risk: number } | null;
  /** The lowest level that counts where the visitor wants to go. */
  level?: number;
  capabilities: Capabilities;
}

/** `null`: a visitor without script who must not pass by waiting. */
export function chooseChallenge(inputs: ChooseInputs): ChallengePlan | null {
  const { settings, demand, capabilities, instance } = inputs;
  const traffic = trafficRuleOf(settings.trafficFilter, inputs.traits);
  const challenged = traffic?.rule.action === 'challenge' ? traffic.rule : null;
  const site = siteDemandOf(settings);
  const chosen = kindByScore(settings, site, inputs);
  const row = instance ? difficultyAt(instance.policy.challengeDifficulty, instance.risk) : null;
  const level = Math.max(levelWanted(site, instance?.policy ?? null), inputs.level ?? 0);
  const demanded = demand?.captchaType;
  let kind = demanded !== undefined && demanded !== 'frictionless' ? demanded : chosen.kind;
  kind = harsher(kind, challenged?.captchaType);
  kind = harsher(kind, row?.captchaType);
  kind = harsher(kind, kindOfLevel(site, level));
  const powDifficulty = Math.max(
    (demand?.powDifficulty ?? settings.powDifficulty) + chosen.extraDifficulty,
    challenged?.powDifficulty ?? 0,
    row?.powDifficulty ?? 0,
  );
  const workLane = workLaneOf(capabilities);
  // Waiting does not replace a picture, and a visitor who is likely a bot must not pass by it.
  const atRisk = chosen.suspicious || (instance ? instance.risk >= instance.policy.challengeThreshold : false);
  if (workLane === 'wait' && (kind !== 'pow' || level > 0 || atRisk)) return null;
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

function kindByScore(settings: SiteSettings, site: SiteDemand, inputs: ChooseInputs): ReturnType<typeof siteKindAt> {
  const { score } = inputs;
  const own = siteKindAt(site, score);
  const context = contextRuleOf(settings, inputs.webView);
  return context !== null && score >= context.threshold ? { ...own, kind: context.type, extraDifficulty: 0 } : own;
}

/** What of a site's settings its edges compute demands with. */
export function siteDemandOf(settings: SiteSettings): SiteDemand {
  const { captchaType, frictionlessThreshold: threshold, frictionlessTypes, powDifficulty, minimumLevel } = settings;
  return {
    captchaType,
    puzzleFrom: typeof threshold === 'number' ? threshold : threshold.frictionlessPuzzleThreshold,
    imageFrom: typeof threshold === 'number' ? threshold : threshold.frictionlessImageThreshold,
    ...frictionlessTypes,
    powDifficulty,
    minimumLevel,
  };
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
