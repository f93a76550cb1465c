/**
 * The challenge of a session. `issueSessionChallenge` mints it for the visitor that an edge describes; `earnSession`
 * judges the solution. The challenge names the one session that it opens: sent again with the same solution and report,
 * as after a lost response, it returns that session; with anything else, nothing.
 */
import { isUnderAttack } from '../../attack/attack-state.ts';
import { sha256Hex } from '../../bytes/hex.ts';
import { restDifficulty } from '../../captcha/plan/level-prices.ts';
import { type Payer, SolvedPrice } from '../../captcha/plan/solved-price.ts';
import { SESSION_ATTACK_HALF_STEPS, SESSION_TARIFF, sessionDifficulty } from '../../captcha/plan/tariffs.ts';
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

const sessionPrice = new SolvedPrice(SESSION_TARIFF);
/** A visitor without a page load pays twice the price. A page load was judged and counted, or was the challenge page. */
const NO_PAGE_HALF_STEPS = 3;

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

/** `done`: work that was solved for this session when it cost less. The challenge is for the rest of the current price. */
export async function issueSessionChallenge(
  call: EdgeCall,
  visitor: EdgeVisitor,
  capabilities: SessionCall['capabilities'],
  load: PageLoad,
  done: DoneWork | null = null,
): Promise<SessionChallenge> {
  const { instance, nowMs } = call;
  const solvedSteps = sessionPrice.halfSteps(payerOf(call, visitor), nowMs);
  const steps = Math.max(solvedSteps, isUnderAttack(instance.attack, nowMs) ? SESSION_ATTACK_HALF_STEPS : 0);
  const ofPage = load === null ? NO_PAGE_HALF_STEPS : 0;
  const price = sessionDifficulty(steps + ofPage);
  const due = done === null ? price : restDifficulty(price, sessionDifficulty(done.steps + ofPage));
  const { probes, key } = askProbes(visitor.userAgent, crypto.getRandomValues(new Uint32Array(1))[0]!);
  const terms = { steps, probes: key };
  const jti = done?.id ?? newJtiFor(visitor.ip, nowMs, load);
  return { ...(await sealedWork(call, visitor, jti, laneFor(capabilities), due, terms)), probes };
}

function payerOf({ instance }: EdgeCall, { ip }: EdgeVisitor): Payer {
  return { scope: instance.id, ip, session: null };
}

/** Work that was solved for the session `id`, when `steps` half steps were added to its price. */
export interface DoneWork {
  id: string;
  steps: number;
}

/** `tooCheap`: the work was asked for when it cost much less than it does now. It counts for its part of the price. */
export async function earnSession(
  call: EdgeCall,
  visitor: EdgeVisitor,
  answer: SessionAnswer,
  load: PageLoad,
): Promise<Result<EarnedSession | { tooCheap: DoneWork }, CaptchaRefusal>> {
  const solved = await solvedWork(call, visitor, answer);
  if (!solved.ok) return solved;
  // The id of a piece of work is that of no session.
  const { id, steps, probes } = solved.value;
  if (probes === null || isPieceOfWork(id)) return failed({ kind: 'challenge-foreign' });
  const { isTooCheap } = sessionPrice.solve(payerOf(call, visitor), { id, halfSteps: steps }, call.nowMs);
  if (isTooCheap) return ok({ tooCheap: { id, steps } });
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
