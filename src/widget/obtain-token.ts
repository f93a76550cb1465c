/**
 * The whole way from a site key to a token (design 5): ask for a challenge, solve whatever kind the
 * service chose, hand the solution in, go on with the next round until it says verified. Knows no
 * user interface: pictures are shown by whoever passes `showVisual`.
 */
import type { ChallengeAnswer, ChallengeRequest, SolutionAnswer } from '../contract/captcha/challenge-api.ts';
import { CaptchaError } from './captcha-error.ts';
import type { StartEngine } from './pow/pow-engine.ts';
import { type OnProgress, preparePow } from './pow/pow-runner.ts';
import { postJson } from './post-json.ts';
import type { ScriptLocation } from './script-location.ts';
import type { VisualOutcome, VisualTask } from './visual-module.ts';

/** Rounds in one go. A strict site may ask for 32 rounds of pictures; the rest is an end to a loop. */
const ROUNDS_MAX = 40;
/** The longest a site can set; more would be a clock that is wrong. */
const LIFETIME_MAX_MS = 600_000;

export type ShowVisual = (task: VisualTask) => Promise<VisualOutcome>;

export interface TokenRequest {
  location: ScriptLocation;
  startEngine: StartEngine;
  /** Address the API hangs under, no trailing slash. */
  apiBase: string;
  siteKey: string;
  action?: string | undefined;
  cdata?: string | undefined;
  signal: AbortSignal;
  onProgress: OnProgress;
  showVisual: ShowVisual;
  /** What stands in the field that people leave empty. */
  readHoneypot(field: NonNullable<ChallengeAnswer['honeypot']>): string;
}

export interface IssuedToken {
  token: string;
  /** How long it is good for from now on, by the service's clock where it told us. */
  lifetimeMs: number;
}

export async function obtainToken(request: TokenRequest): Promise<IssuedToken> {
  const { apiBase, signal, onProgress } = request;
  const stopWorker = new AbortController();
  const stop = (): void => stopWorker.abort();
  signal.addEventListener('abort', stop);
  const ask = async (audio: boolean): Promise<ChallengeAnswer> =>
    (await postJson(`${apiBase}/challenge`, challengeRequest(request, audio), signal)) as ChallengeAnswer;
  try {
    let runner = preparePow(request.location, request.startEngine, stopWorker.signal);
    let challenge = await ask(false);
    let wrong = false;
    for (let round = 1; round <= ROUNDS_MAX; round++) {
      const { honeypot, pow } = challenge;
      if (honeypot !== undefined) request.readHoneypot(honeypot);
      const outcome: VisualOutcome =
        pow === undefined
          ? await request.showVisual({ challenge, wrong, signal })
          : { solution: await runner.solve(pow, onProgress) };
      if ('audio' in outcome) {
        challenge = await ask(outcome.audio);
        wrong = false;
        continue;
      }
      const answer = (await postJson(
        `${apiBase}/solution`,
        {
          challenge: challenge.challenge,
          solution: outcome.solution,
          ...(honeypot === undefined ? {} : { honeypot: request.readHoneypot(honeypot) }),
        },
        signal,
      )) as SolutionAnswer;
      if (answer.verified && answer.token !== undefined) {
        onProgress(1);
        return { token: answer.token, lifetimeMs: lifetimeMs(answer) };
      }
      if (answer.next === undefined) throw rejection(answer.reason ?? '');
      challenge = answer.next;
      wrong = answer.reason !== undefined;
      if (challenge.pow !== undefined) runner = preparePow(request.location, request.startEngine, stopWorker.signal);
    }
    throw new CaptchaError('failed', 'rounds');
  } finally {
    signal.removeEventListener('abort', stop);
    stop();
  }
}

/** Behind the gate a page need not name its site key: the edge knows it. */
function challengeRequest(request: TokenRequest, audio: boolean): Partial<ChallengeRequest> {
  const sessionId = /(?:^|; )protect_session=([A-Za-z0-9._-]{1,256})/.exec(document.cookie)?.[1];
  return {
    ...(request.siteKey === '' ? {} : { siteKey: request.siteKey }),
    ...(request.action === undefined ? {} : { action: request.action }),
    ...(request.cdata === undefined ? {} : { cdata: request.cdata }),
    currentUrl: (location.origin + location.pathname).slice(0, 2048),
    capabilities: {
      bigint: typeof BigInt === 'function',
      worker: typeof Worker === 'function',
      script: true,
      audio,
    },
    ...(sessionId === undefined ? {} : { sessionId }),
  };
}

function rejection(reason: string): CaptchaError {
  return new CaptchaError(/EXPIRED|TOO_OLD/.test(reason) ? 'expired' : 'failed', reason);
}

function lifetimeMs(answer: SolutionAnswer): number {
  const { now = Date.now(), expiresAt = now } = answer;
  return Math.min(LIFETIME_MAX_MS, Math.max(0, expiresAt - now));
}
