/**
 * Work that a page does for its session: to open it, or, once it is open, for more pages and calls. The seal names what
 * the work is for, and holds for one visitor, host and instance.
 */
import { visitorBinding } from '../../address/visitor-binding.ts';
import { powSolved } from '../../captcha/pow/judge-pow.ts';
import { openSealedSession, sealSession, type SessionLane } from '../../captcha/seal/sealed-session.ts';
import type { SessionChallenge } from '../../contract/captcha/challenge-api.ts';
import type { ProbeKey } from '../../risk/probes/ask-probes.ts';
import type { EdgeVisitor } from '../../contract/edge/edge-api.ts';
import type { SessionCall } from '../../contract/edge/page-reports.ts';
import { failed, ok, type Result } from '../../result.ts';
import { captchaEngine } from '../captcha/captcha-engine.ts';
import { mintChallengeWork } from '../captcha/challenge/mint-work.ts';
import type { CaptchaRefusal } from '../http/service-error.ts';
import type { EdgeCall } from './edge-route.ts';

/** A phone that puts a page to sleep for a moment is in time; a stock of solutions does not keep. */
const CHALLENGE_MS = 300_000;

export interface SolvedWork {
  challenge: string;
  solution: NonNullable<SessionCall['solution']>;
}

/** Only a challenge that opens a session has them. `steps`: half steps that were added to its price. */
interface OpeningTerms {
  steps: number;
  probes: ProbeKey | null;
}

/** `id`: what the work is for: the id of the session that it opens, or of the piece of work that it is. */
export async function sealedWork(
  call: EdgeCall,
  visitor: EdgeVisitor,
  id: string,
  lane: SessionLane,
  difficulty: number,
  { steps, probes }: Partial<OpeningTerms> = {},
): Promise<SessionChallenge> {
  const { instance, nowMs } = call;
  const engine = captchaEngine(call);
  const { pow, params, answer } = await mintChallengeWork(engine, lane, difficulty, nowMs);
  const expiresAt = nowMs + CHALLENGE_MS;
  const sealed = {
    jti: id,
    instanceId: instance.id,
    binding: await visitorBinding(visitor.ip, visitor.userAgent),
    host: visitor.host,
    lane,
    issuedAt: nowMs,
    expiresAt,
    params: steps === undefined ? params : { ...params, steps },
    probes: probes ?? null,
  };
  return { challenge: await sealSession(engine.keyring, sealed, answer), pow, expiresAt };
}

/** A browser without BigInt gets another kind of work, which is not less. */
export function laneFor(capabilities: SessionCall['capabilities']): SessionLane {
  return capabilities?.bigint === false ? 'sha256' : 'rsw';
}

/** What the solved work was sealed with. */
export async function solvedWork(
  call: EdgeCall,
  visitor: EdgeVisitor,
  { challenge, solution }: SolvedWork,
): Promise<Result<OpeningTerms & { id: string }, CaptchaRefusal>> {
  const { instance, nowMs } = call;
  const opened = await openSealedSession(captchaEngine(call).keyring, challenge, nowMs);
  if (opened === null) return failed({ kind: 'challenge-invalid' });
  const { jti: id, instanceId, binding, host, expiresAt, params, probes } = opened.challenge;
  const isTheirs =
    instanceId === instance.id &&
    host === visitor.host &&
    binding === (await visitorBinding(visitor.ip, visitor.userAgent));
  if (!isTheirs) return failed({ kind: 'challenge-foreign' });
  if (nowMs >= expiresAt) return failed({ kind: 'challenge-late' });
  if (!(await powSolved(opened, solution, nowMs))) return failed({ kind: 'solution-wrong' });
  return ok({ id, steps: params.steps ?? Infinity, probes });
}
