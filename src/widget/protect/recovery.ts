/**
 * Reacts to the gate's response to a script's request: opens a session after a 401, solves a challenge after a 403, then
 * has the caller repeat the request. Each happens once per request, so that no request loops. Requests that are
 * challenged together share one solution.
 */
import { workDueTiming } from '../../contract/edge/headers.ts';
import { activated } from './tabs.ts';
import type { SessionOpener } from './session-opener.ts';

/** What `fetch` and XMLHttpRequest both have of a response. */
export interface GateResponse {
  status: number;
  header(name: string): string | null;
  /** The parsed body; may reject. */
  body(): Promise<unknown>;
}

export interface ChallengeOrder {
  siteKey: string;
  action: string;
  /** Lowest level of a solved challenge that counts. */
  level: number;
}
/** Resolves `true` once the clearance is set, `false` when the visitor closed the dialog or solving failed. */
export type SolveOrder = (order: ChallengeOrder) => Promise<boolean>;

/** One request of the page and its repetitions. */
export interface Attempt {
  tried: Set<string>;
  /** How many challenges had been solved when the request was sent. */
  solutions: number;
}

export class Recovery {
  readonly #sessions: SessionOpener;
  readonly #solve: SolveOrder;
  #solving: Promise<boolean> | null = null;
  #solutions = 0;

  constructor(sessions: SessionOpener, solve: SolveOrder) {
    this.#sessions = sessions;
    this.#solve = solve;
  }

  /** Every response of the gate, challenged or not: the page works ahead while it is used. */
  noted(response: Pick<GateResponse, 'header'>): void {
    if (isWorkDue(response)) this.#sessions.workAhead();
  }

  /** Before the request is sent. */
  attempt(): Attempt {
    return { tried: new Set(), solutions: this.#solutions };
  }

  /** Resolves `true` when the request should be repeated. */
  async recover(response: GateResponse, attempt: Attempt): Promise<boolean> {
    const problem = gateProblem(response);
    if (problem === null || attempt.tried.has(problem)) return false;
    // A challenge was solved while this request was on its way: it may pass now.
    if (problem === 'challenge' && attempt.solutions < this.#solutions) {
      attempt.solutions = this.#solutions;
      return true;
    }
    attempt.tried.add(problem);
    await activated();
    if (problem === 'session') return this.#sessions.renew();
    // Work in the background may be enough. If it is not, the request is challenged again, and then solved for.
    if (isWorkDue(response) && !attempt.tried.has('work') && (await this.#sessions.work())) {
      attempt.tried.delete(problem);
      attempt.tried.add('work');
      return true;
    }
    const order = await response.body().then(challengeOrder, () => null);
    if (order === null) return false;
    this.#solving ??= this.#solve(order)
      .then((isSolved) => {
        if (isSolved) this.#solutions++;
        return isSolved;
      })
      .finally(() => {
        this.#solving = null;
      });
    return this.#solving;
  }
}

/** Whether the gate asks the page to work for more pages and calls. */
export function isWorkDue(response: Pick<GateResponse, 'header'>): boolean {
  return response.header('server-timing')?.includes(workDueTiming) === true;
}

/** `null` for every response of the site itself, including its own 401 and 403. */
export function gateProblem(response: Pick<GateResponse, 'status' | 'header'>): 'session' | 'challenge' | null {
  if (response.status === 401 && response.header('x-protect-status') !== null) return 'session';
  return response.status === 403 && response.header('x-protect-decision') === 'challenge' ? 'challenge' : null;
}

function challengeOrder(body: unknown): ChallengeOrder | null {
  const order = (body as { challenge?: Partial<ChallengeOrder> } | null)?.challenge;
  if (typeof order?.siteKey !== 'string') return null;
  const { siteKey, action, level } = order;
  return {
    siteKey,
    action: typeof action === 'string' ? action : '',
    level: typeof level === 'number' ? level : 0,
  };
}
