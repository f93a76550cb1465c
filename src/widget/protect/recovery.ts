/**
 * What to do about an answer of the gate to a script's request (design 3.3): open a session after a
 * 401, solve after a challenge, then let the caller repeat. Each once per request, so that nothing
 * can go round in circles; many requests challenged together share one solve.
 */
import type { SessionOpener } from './session-opener.ts';

/** The parts of an answer that matter, alike for fetch and XMLHttpRequest. */
export interface GateAnswer {
  status: number;
  header(name: string): string | null;
  /** The parsed body; may reject. */
  body(): Promise<unknown>;
}

export interface ChallengeOrder {
  siteKey: string;
  action: string;
}
/** Resolves `true` once the clearance is set, `false` when the visitor closed it or it failed. */
export type SolveOrder = (order: ChallengeOrder) => Promise<boolean>;

export class Recovery {
  readonly #sessions: SessionOpener;
  readonly #solve: SolveOrder;
  #solving: Promise<boolean> | null = null;

  constructor(sessions: SessionOpener, solve: SolveOrder) {
    this.#sessions = sessions;
    this.#solve = solve;
  }

  /** Steps of one request; `tried` belongs to that request. Resolves `true` when it should be repeated. */
  async recover(answer: GateAnswer, tried: Set<string>): Promise<boolean> {
    const problem = problemOf(answer);
    if (problem === null || tried.has(problem)) return false;
    tried.add(problem);
    if (problem === 'session') return this.#sessions.renew();
    const order = await answer.body().then(challengeOrder, () => null);
    if (order === null) return false;
    this.#solving ??= this.#solve(order).finally(() => {
      this.#solving = null;
    });
    return this.#solving;
  }
}

/** `null` for every answer that is none of the gate's: the page's own 401 and 403 stay its own. */
export function problemOf(answer: Pick<GateAnswer, 'status' | 'header'>): 'session' | 'challenge' | null {
  if (answer.status === 401 && answer.header('x-protect-status') !== null) return 'session';
  return answer.status === 403 && answer.header('x-protect-decision') === 'challenge' ? 'challenge' : null;
}

function challengeOrder(body: unknown): ChallengeOrder | null {
  const order = (body as { challenge?: Partial<ChallengeOrder> } | null)?.challenge;
  if (typeof order?.siteKey !== 'string') return null;
  return { siteKey: order.siteKey, action: typeof order.action === 'string' ? order.action : '' };
}
