/**
 * Opens the visitor's session at the edge, first-party: the response sets the cookie. Calls of one page share one
 * exchange, and so do the site's tabs. A session costs work, so nothing here repeats it without end: a tab that keeps no
 * cookies works once in ten minutes, and a page whose sessions are refused again and again stops.
 */
import { sessionRefusedTiming, workDueTiming } from '../../contract/edge/headers.ts';
import { WindowCounts } from '../../bytes/window-counts.ts';
import { isSessionExpired, sessionCookieValue } from '../session-cookie.ts';
import { inOneTab } from './tabs.ts';
import { keepUnfinished, type Piece, takeUnfinished } from './unfinished-work.ts';
import type { EnvironmentReport } from '../../contract/edge/page-reports.ts';
import type { Probes } from '../../contract/edge/probes.ts';
import type { SessionChallenge } from '../../contract/captcha/challenge-api.ts';
import type { PowRunner } from '../pow/pow-runner.ts';
import { CaptchaError } from '../token/captcha-error.ts';
import { postJson } from '../token/post-json.ts';

/** Challenges for one session. A network may change between a challenge and its solution. */
const TRIES_MAX = 3;
/** Work of one page within the window: enough for a visitor who changes networks, not for a loop. */
const WORK_MAX = 6;
const WINDOW_MS = 600_000;
/** Pieces of work for more pages and calls, of one page within the window. The service asks for no more. */
const PIECES_MAX = 60;
/** When a session's cookie was last lost, in the storage of the tab. */
const LOST_KEY = 'gatehouse.cookie-lost';

export class SessionOpener {
  readonly #ports: Omit<ExchangePorts, 'takeWork'>;
  readonly #work = new WindowCounts(WORK_MAX, WINDOW_MS);
  readonly #pieces = new WindowCounts(PIECES_MAX, WINDOW_MS);
  #opening: Promise<boolean> | null = null;
  #working: Promise<boolean> | null = null;
  #unfinished: Piece | null = null;
  #keptAtMs = 0;
  #workedUntilMs = Number.NEGATIVE_INFINITY;
  #lostAtMs = 0;
  #load: string | undefined;

  constructor(ports: Omit<ExchangePorts, 'takeWork'>) {
    this.#ports = ports;
    this.#load = ports.load;
  }

  /** Resolves `true` once there is a session; at once where there is a valid one. */
  ensure(): Promise<boolean> {
    return sessionCookieValue() === null || isSessionExpired(Date.now()) ? this.renew() : Promise.resolve(true);
  }

  /** Renews an expired session while the visitor fills in a form. `during` is told when it does. */
  keep(during: (renewing: Promise<unknown>) => void): void {
    const nowMs = Date.now();
    if (nowMs < this.#keptAtMs + KEEP_PAUSE_MS) return;
    this.#keptAtMs = nowMs;
    if (isSessionExpired(nowMs)) during(this.renew());
  }

  /** For a new page: also in place of a session that the gate refused when the page was asked for. */
  begin(): Promise<boolean> {
    const [page] = performance.getEntriesByType('navigation') as Partial<PerformanceNavigationTiming>[];
    const isTold = (metric: string): boolean => page?.serverTiming?.some(({ name }) => name === metric) === true;
    if (isTold(sessionRefusedTiming)) return this.renew();
    if (isTold(workDueTiming)) void this.work();
    return this.ensure();
  }

  /** As `work`, unless the page has worked just now. A cached response may say again and again that work is due. */
  workAhead(): void {
    if (Date.now() >= this.#workedUntilMs + WORK_PAUSE_MS) void this.work();
  }

  /**
   * Works for more pages and calls, piece by piece, until the gate asks for no more. Resolves `true` where the session goes on,
   * so that a refused request may pass now. One tab at a time, and it never holds up what opens or renews a session.
   */
  work(opened?: SessionAnswer): Promise<boolean> {
    this.#working ??= inOneTab(() => this.#solvePieces(opened), WORK_LOCK)
      .catch(() => false)
      .finally(() => {
        this.#working = null;
        this.#workedUntilMs = Date.now();
      });
    return this.#working;
  }

  async #solvePieces(opened?: SessionAnswer): Promise<boolean> {
    const { prepare } = this.#ports;
    const stop = new AbortController();
    try {
      let answer = opened ?? unfinishedAnswer() ?? (await this.#postWork({}, stop.signal));
      // A session that had to be opened first gets a challenge in place of work.
      while (answer.work !== undefined && this.#pieces.take('', Date.now())) {
        const { challenge, pow } = answer.work;
        const piece = { receivedAtMs: Date.now(), ...answer.work };
        this.#unfinished = piece;
        const solution = await prepare(stop.signal).solve(pow, (done, x) => {
          if (x !== undefined) this.#unfinished = { ...piece, pow: { ...pow, x, t: Math.round(pow.t! * (1 - done)) } };
        });
        this.#unfinished = null;
        answer = await this.#postWork({ challenge, solution }, stop.signal);
      }
      return answer.challenge === undefined;
    } finally {
      this.#unfinished = null;
      stop.abort();
    }
  }

  async #postWork(solved: object, signal: AbortSignal): Promise<SessionAnswer> {
    return (await postJson(this.#ports.url, { ...solved, capabilities, work: true }, signal)) as SessionAnswer;
  }

  /** The page is left: the next one of the tab goes on with the piece that this one works on. */
  leave(): void {
    if (this.#unfinished !== null) keepUnfinished(this.#unfinished);
  }

  /** Renews the session, or opens another in place of one that the edge refused. */
  renew(): Promise<boolean> {
    this.#opening ??= this.#open(sessionCookieValue()).finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  /** After the browser has brought the page back from its history. A call that was cut off then has failed. */
  async resume(): Promise<void> {
    await this.#opening;
    await this.ensure();
  }

  async #open(refused: string | null): Promise<boolean> {
    if (!navigator.cookieEnabled || this.#isCookieLost()) return false;
    return inOneTab(async () => {
      const present = sessionCookieValue();
      // Another tab was faster.
      if (present !== null && present !== refused) return true;
      try {
        for (let tries = 0; tries < TRIES_MAX; tries++) {
          // A page load opens one session: if this page is from a cache, another one may have opened it.
          const load = this.#load;
          this.#load = undefined;
          const answer = await exchange({ ...this.#ports, load, takeWork: () => this.#work.take('', Date.now()) });
          if (answer === null) continue;
          if (answer.work !== undefined) void this.work(answer);
          return this.#isKept();
        }
      } catch {
        // No response, or one that says to stop. The next refused request asks again.
      }
      return false;
    });
  }

  #isKept(): boolean {
    if (sessionCookieValue() !== null) return true;
    this.#lostAtMs = Date.now();
    try {
      sessionStorage.setItem(LOST_KEY, String(this.#lostAtMs));
    } catch {
      // A browser that keeps nothing: the next page finds out again.
    }
    return false;
  }

  #isCookieLost(): boolean {
    let lostAtMs = this.#lostAtMs;
    try {
      lostAtMs = Math.max(lostAtMs, Number(sessionStorage.getItem(LOST_KEY)));
    } catch {
      // As above.
    }
    return Date.now() - lostAtMs < WINDOW_MS;
  }
}

const WORK_LOCK = 'gatehouse.work';
const WORK_PAUSE_MS = 10_000;
const KEEP_PAUSE_MS = 10_000;
const capabilities = { bigint: typeof BigInt === 'function' };

/** A session, with the next piece of work where one is due, or a challenge in its place. */
type SessionAnswer = Partial<SessionChallenge> & { work?: Omit<Piece, 'receivedAtMs'> };

/** As if the piece had just come, but for its age. */
function unfinishedAnswer(): (SessionAnswer & { work: Piece }) | null {
  const work = takeUnfinished(Date.now());
  return work && { work };
}

/** The life of a challenge. An old phone without BigInt computes 0.3 million hashes a second, and a session costs up to 68 million. */
const EXCHANGE_MAX_MS = 300_000;

interface ExchangePorts {
  url: string;
  /** Nonce of the page load. */
  load?: string | undefined;
  /** Starts what solves the challenge. */
  prepare: (signal: AbortSignal) => PowRunner;
  /** A rejection ends the exchange: no session opens without a report. */
  collect: (asked: Promise<Probes | undefined>) => Promise<EnvironmentReport>;
  /** Counts one piece of work. `false`: this page has worked enough. */
  takeWork: () => boolean;
}

/**
 * Asks the edge for a session. It renews the one in the cookie, or returns a challenge: then the work is done off the main
 * thread, while the report of the browser is collected, and both are sent together. `null`: the solution was refused, so
 * another challenge may succeed. Rejects when trying again is of no use now.
 */
async function exchange({ url, load, prepare, collect, takeWork }: ExchangePorts): Promise<SessionAnswer | null> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), EXCHANGE_MAX_MS);
  try {
    // A renewed session may have to work again. One that has not expired might be refused, and work would not replace it.
    const work = isSessionExpired(Date.now()) || undefined;
    let asked = postJson(url, { capabilities, load, work }, stop.signal) as Promise<SessionAnswer>;
    const begin = () => {
      const probes = asked.then(
        (challenged) => challenged.probes,
        () => undefined,
      );
      const report = collect(probes);
      // It is handled where it is awaited, unless no report is needed.
      report.catch(() => undefined);
      return { runner: prepare(stop.signal), report };
    };
    // A visitor without a session will have to work: both begin while the challenge is on its way.
    let begun = sessionCookieValue() === null ? begin() : undefined;
    let answer = await asked;
    // The price may have risen meanwhile: then the rest of the work comes in place of the session.
    while (answer.challenge !== undefined && answer.pow !== undefined) {
      const { challenge, pow } = answer;
      if (!takeWork()) throw new CaptchaError('cancelled');
      begun ??= begin();
      const [solution, environment] = await Promise.all([begun.runner.solve(pow, () => undefined), begun.report]);
      const solved = { challenge, solution, environment, capabilities, work: true, load };
      try {
        answer = (await postJson(url, solved, stop.signal)) as SessionAnswer;
      } catch (error) {
        const { code, detail } = error as CaptchaError;
        if (code === 'refused' && detail !== 'API.RATE_LIMITED') return null;
        throw error;
      }
      if (answer.challenge !== undefined) {
        asked = Promise.resolve(answer);
        begun = begin();
      }
    }
    return answer;
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}
