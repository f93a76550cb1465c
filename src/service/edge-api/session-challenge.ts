/**
 * The challenge of a session. `issueSessionChallenge` mints it for the visitor that an edge describes; `earnSession`
 * judges the solution. The challenge names the one session that it opens: sent again with the same solution and report,
 * as after a lost response, it returns that session; with anything else, nothing.
 */
import { isUnderAttack } from '../../attack/attack-state.ts';
import { sha256Hex } from '../../bytes/hex.ts';
import { BurstPrice, sessionDifficulty } from '../../captcha/plan/burst-price.ts';
import type { EdgeSessionRequest, EdgeVisitor } from '../../contract/edge/edge-api.ts';
import type { SessionCall } from '../../contract/edge/page-reports.ts';
import type { SessionChallenge } from '../../contract/captcha/challenge-api.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { JudgedReport } from '../../risk/environment/environment-findings.ts';
import { askProbes, hasWrongAnswers } from '../../risk/probes/ask-probes.ts';
import { newJtiFor } from '../../store/risk-book/client/session-books.ts';
import type { CaptchaRefusal } from '../http/service-error.ts';
import type { EdgeCall } from './edge-route.ts';
import { isPieceOfWork } from './paced-work.ts';
import { laneFor, sealedWork, solvedWork } from './session-work.ts';

/** Four times the price: on a phone a second. Neighbours of a flood pay it as well, so there is no more. */
const LARGER_STEPS_MAX = 2;
const burstPrice = new BurstPrice(LARGER_STEPS_MAX);

/** The second call of a page, complete. */
export type SessionAnswer = {
  [Part in 'challenge' | 'solution' | 'environment']: NonNullable<SessionCall[Part]>;
};

/** As the edge tells it: the request id of the page load, `null` for none, `undefined` from an edge that knows no nonces. */
export type PageLoad = EdgeSessionRequest['load'];

/** The session that a solved challenge opens. The same at every repetition of the call. */
interface EarnedSession {
  jti: string;
  /** SHA-256 of the answer, which opens this session and no second time another. */
  opening: string;
  report: JudgedReport;
}

export async function issueSessionChallenge(
  call: EdgeCall,
  visitor: EdgeVisitor,
  capabilities: SessionCall['capabilities'],
  load: PageLoad,
): Promise<SessionChallenge> {
  const { instance, nowMs } = call;
  const lane = laneFor(capabilities);
  const burstSteps = burstPrice.ask(instance.id, visitor.ip, nowMs);
  // In an attack everybody pays the price of a flood: who has a session already pays nothing.
  const steps = Math.max(burstSteps, isUnderAttack(instance.attack, nowMs) ? LARGER_STEPS_MAX : 0);
  // The page was judged and counted, or was the challenge page. Who comes without one pays twice.
  const price = sessionDifficulty(steps + (load === null ? 1 : 0));
  const { probes, key } = askProbes(visitor.userAgent, crypto.getRandomValues(new Uint32Array(1))[0]!);
  const terms = { steps, probes: key };
  const jti = newJtiFor(visitor.ip, nowMs, load);
  return { ...(await sealedWork(call, visitor, jti, lane, price, terms)), probes };
}

/** `null`: the work was asked for when it cost much less than it does now. */
export async function earnSession(
  call: EdgeCall,
  visitor: EdgeVisitor,
  answer: SessionAnswer,
  load: PageLoad,
): Promise<Result<EarnedSession | null, CaptchaRefusal>> {
  const solved = await solvedWork(call, visitor, answer);
  if (!solved.ok) return solved;
  // The id of a piece of work is that of no session.
  const { id, steps, probes } = solved.value;
  if (probes === null || isPieceOfWork(id)) return failed({ kind: 'challenge-foreign' });
  if (burstPrice.solve(call.instance.id, visitor.ip, { id, steps }, call.nowMs) === 'too-cheap') return ok(null);
  const isOfLoad = typeof load === 'string' && id === newJtiFor(visitor.ip, call.nowMs, load);
  const { environment } = answer;
  const answersNothing = environment.answers === undefined;
  const report = {
    ...environment,
    // A page that was open during an upgrade knows neither questions nor nonces: one sign. An edge of before it, none.
    hasWrongAnswers: !(answersNothing && load === undefined) && hasWrongAnswers(probes, environment),
    noPageLoad: !answersNothing && load !== undefined && !isOfLoad,
  };
  return ok({ jti: id, report, opening: await sha256Hex(JSON.stringify(answer)) });
}
