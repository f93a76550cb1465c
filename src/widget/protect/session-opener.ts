/**
 * Opens the visitor's session with the edge (design 6), first-party: the answer sets the cookie. Calls
 * share one request; a browser that keeps no cookie is asked once, not for ever.
 */
import { postJson } from '../post-json.ts';

const COOKIE = /(?:^|; )protect_session=([^;]+)/;

/** The session's id, or `null` without a session. */
export function sessionId(): string | null {
  const value = COOKIE.exec(document.cookie)?.[1];
  return value === undefined ? null : /^[A-Za-z0-9._-]*/.exec(value)![0] || null;
}

/** Whether the session's JWT is over: the edge then asks for a new one, which only a session call brings. */
function isOver(): boolean {
  const payload = (COOKIE.exec(document.cookie)?.[1] ?? '').split('.')[1];
  if (payload === undefined) return false;
  try {
    const { exp } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as { exp: number };
    return exp * 1000 < Date.now();
  } catch {
    return false;
  }
}

export class SessionOpener {
  readonly #url: string;
  #opening: Promise<boolean> | null = null;
  #cookiesKept = true;

  constructor(base: string) {
    this.#url = `${base}/session`;
  }

  /** Resolves `true` once there is a session; at once when there is a live one already. */
  ensure(): Promise<boolean> {
    return sessionId() === null || isOver() ? this.renew() : Promise.resolve(true);
  }

  /** A new session in place of one that the edge refused. */
  renew(): Promise<boolean> {
    if (!this.#cookiesKept) return Promise.resolve(false);
    this.#opening ??= this.#open().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #open(): Promise<boolean> {
    try {
      await postJson(this.#url, {}, new AbortController().signal);
    } catch {
      return false;
    }
    this.#cookiesKept = sessionId() !== null;
    return this.#cookiesKept;
  }
}
