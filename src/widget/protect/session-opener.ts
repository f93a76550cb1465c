/**
 * Opens the visitor's session at the edge, first-party: the response sets the cookie. Concurrent calls share one
 * request. In a browser that keeps no cookies, it is requested only once.
 */
import { isSessionExpired, sessionId } from '../session-cookie.ts';
import type { EnvironmentReport } from '../../contract/edge/environment-report.ts';
import { postJson } from '../token/post-json.ts';

export class SessionOpener {
  readonly #url: string;
  readonly #collect: () => Promise<EnvironmentReport>;
  #opening: Promise<boolean> | null = null;
  #cookiesKept = true;

  /** `collect`: the report of the browser that travels with the call. */
  constructor(base: string, collect: () => Promise<EnvironmentReport>) {
    this.#url = `${base}/session`;
    this.#collect = collect;
  }

  /** Resolves `true` once there is a session; at once where there is a valid one. */
  ensure(): Promise<boolean> {
    return sessionId() === null || isSessionExpired(Date.now()) ? this.renew() : Promise.resolve(true);
  }

  /** Opens a new session in place of one that the edge refused. */
  renew(): Promise<boolean> {
    if (!this.#cookiesKept) return Promise.resolve(false);
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #open(): Promise<boolean> {
    try {
      await postJson(this.#url, { environment: await this.#collect() }, new AbortController().signal);
    } catch {
      return false;
    }
    this.#cookiesKept = sessionId() !== null;
    return this.#cookiesKept;
  }
}
