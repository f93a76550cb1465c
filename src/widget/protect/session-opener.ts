/**
 * Opens the visitor's session at the edge, first-party: the response sets the cookie. Calls of one page share one
 * exchange, and so do the site's tabs. A session costs work, so nothing here repeats it without end: a tab that keeps no
 * cookies works once in ten minutes, and a page whose sessions are refused again and again stops.
 */
import { sessionRefusedTiming } from '../../contract/edge/headers.ts';
import { WindowCounts } from '../../bytes/window-counts.ts';
import { isSessionExpired, sessionCookieValue } from '../session-cookie.ts';
import { inOneTab } from './in-one-tab.ts';
import { exchange, type ExchangePorts } from './session-exchange.ts';

/** Challenges for one session. A network may change between a challenge and its solution. */
const TRIES_MAX = 3;
/** Work of one page within the window: enough for a visitor who changes networks, not for a loop. */
const WORK_MAX = 6;
const WINDOW_MS = 600_000;
/** When a session's cookie was last lost, in the storage of the tab. */
const LOST_KEY = 'gatehouse.cookie-lost';

export class SessionOpener {
  readonly #ports: Omit<ExchangePorts, 'takeWork'>;
  readonly #work = new WindowCounts(WORK_MAX, WINDOW_MS);
  #opening: Promise<boolean> | null = null;
  #lostAtMs = 0;

  constructor(ports: Omit<ExchangePorts, 'takeWork'>) {
    this.#ports = ports;
  }

  /** Resolves `true` once there is a session; at once where there is a valid one. */
  ensure(): Promise<boolean> {
    return sessionCookieValue() === null || isSessionExpired(Date.now()) ? this.renew() : Promise.resolve(true);
  }

  /** For a new page: also in place of a session that the gate refused when the page was asked for. */
  begin(): Promise<boolean> {
    const [page] = performance.getEntriesByType('navigation') as Partial<PerformanceNavigationTiming>[];
    const isRefused = page?.serverTiming?.some(({ name }) => name === sessionRefusedTiming) === true;
    return isRefused ? this.renew() : this.ensure();
  }

  /** Opens a new session in place of one that the edge refused. */
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
          if (await exchange({ ...this.#ports, takeWork: () => this.#work.take('', Date.now()) }))
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
