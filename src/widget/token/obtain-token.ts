/**
 * From a site key to a token: requests a challenge, solves whatever kind the service chose, submits the solution, and
 * continues with the next round until the service reports it as verified. Has no user interface: the caller shows
 * picture tasks in `showVisual`. The work that a picture comes with runs while the visitor looks at it.
 */
import type { ChallengeRequest, ChallengeResponse, SolutionResponse } from '../../contract/captcha/challenge-api.ts';
import { type StartEngine, startWorker } from '../pow/pow-engine.ts';
import { preparePow, type PowRunner } from '../pow/pow-runner.ts';
import type { OnProgress } from '../pow/pow-task.ts';
import type { ScriptLocation } from '../loading/script-location.ts';
import { cookieSessionId } from '../session-cookie.ts';
import type { VisualOutcome, VisualTask } from '../visual/visual-module.ts';
import { CaptchaError } from './captcha-error.ts';
import { postJson } from './post-json.ts';

/** A strict site may require 32 rounds of pictures; more than this is an endless loop. */
const ROUNDS_MAX = 40;
/** The longest lifetime that a site can set. A longer one means that a clock is wrong. */
const LIFETIME_MAX_MS = 600_000;

export interface TokenRequest {
  location: ScriptLocation;
  startEngine: StartEngine;
  /** Base address of the API, without a trailing slash. */
  apiBase: string;
  /** Empty behind the gate, where the edge has it. */
  siteKey: string;
  action?: string | undefined;
  /** Lowest level that counts where the visitor wants to go. */
  level?: number | undefined;
  cdata?: string | undefined;
  userToken?: string | undefined;
  signal: AbortSignal;
  onProgress: OnProgress;
  showVisual(task: VisualTask): Promise<VisualOutcome>;
  /** Content of the field that visitors leave empty. */
  readHoneypot(field: NonNullable<ChallengeResponse['honeypot']>): string;
}

type Sent<Body> = { [Field in keyof Body]?: Body[Field] | undefined };

export interface IssuedToken {
  token: string;
  /** Remaining lifetime, by the service's clock where the service reports it. */
  lifetimeMs: number;
}

export async function obtainToken(request: TokenRequest): Promise<IssuedToken> {
  const { apiBase, signal, onProgress } = request;
  const stopWorker = new AbortController();
  signal.addEventListener('abort', () => stopWorker.abort());
  const newChallenge = async (audio: boolean): Promise<ChallengeResponse> =>
    (await postJson(`${apiBase}/challenge`, challengeRequest(request, audio), signal)) as ChallengeResponse;
  try {
    const prepare = (): PowRunner => preparePow(request.location, request.startEngine, stopWorker.signal);
    let runner: PowRunner | undefined = prepare();
    let challenge = await newChallenge(false);
    let wrong = false;
    const { privacyUrl } = challenge;
    for (let round = 1; round <= ROUNDS_MAX; round++) {
      const { honeypot, pow, image, puzzle, audio } = challenge;
      if (honeypot) request.readHoneypot(honeypot);
      const work = pow && (runner ?? prepare()).solve(pow, onProgress);
      runner = undefined;
      // The visitor may leave before it fails.
      work?.catch(() => {});
      const outcome =
        (image ?? puzzle ?? audio) && (await request.showVisual({ challenge, wrong, privacyUrl, signal }));
      if (outcome && 'anew' in outcome) {
        challenge = await newChallenge(outcome.anew);
        continue;
      }
      const solution: Record<string, unknown> = { ...outcome?.solution, ...(await work) };
      const response = (await postJson(
        `${apiBase}/solution`,
        {
          challenge: challenge.challenge,
          solution,
          honeypot: honeypot && request.readHoneypot(honeypot),
        },
        signal,
      )) as SolutionResponse;
      const { token, next, reason } = response;
      if (token) {
        onProgress(1);
        return { token, lifetimeMs: lifetimeMs(response, Date.now()) };
      }
      // One challenge allows one change between pictures and sound. Another change begins anew.
      if (!next && !('audio' in solution)) throw rejection(reason);
      challenge = next ?? (await newChallenge(solution['audio'] === true));
      wrong = Boolean(reason);
    }
    throw new CaptchaError('failed', 'rounds');
  } finally {
    stopWorker.abort();
  }
}

/** JSON leaves out fields that are `undefined`. */
function challengeRequest(
  { siteKey, action, level, cdata, userToken }: TokenRequest,
  audio: boolean,
): Sent<ChallengeRequest> {
  return {
    siteKey: siteKey || undefined,
    action,
    // A service of an older release does not know the field.
    level: level || undefined,
    cdata,
    userToken,
    iFrame: self !== top,
    currentUrl: (location.origin + location.pathname).slice(0, 2048),
    capabilities: {
      bigint: typeof BigInt === 'function',
      worker: typeof Worker === 'function',
      script: true,
      audio,
    },
    sessionId: cookieSessionId() ?? undefined,
  };
}

function rejection(reason = ''): CaptchaError {
  return new CaptchaError(/EXPIRED|TOO_OLD/.test(reason) ? 'expired' : 'failed', reason);
}

function lifetimeMs({ now: serviceNowMs, expiresAt }: SolutionResponse, nowMs: number): number {
  const startMs = serviceNowMs ?? nowMs;
  return Math.min(LIFETIME_MAX_MS, Math.max(0, (expiresAt ?? startMs) - startMs));
}

/**
 * A challenge of the gate: obtains a token and has the edge verify it, which sets the visitor's clearance cookie.
 * `apiBase` is the edge's. Rejects with a `CaptchaError`.
 */
export async function passChallenge(request: Omit<TokenRequest, 'startEngine'>): Promise<void> {
  const { token } = await obtainToken({ ...request, startEngine: startWorker });
  const answer = (await postJson(`${request.apiBase}/verify`, { token }, request.signal)) as { verified?: boolean };
  if (answer.verified !== true) throw new CaptchaError('failed', 'verify');
}
