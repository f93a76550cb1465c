/**
 * The life of a widget's token: fetched once, renewed before it expires so that a slow writer's form
 * still goes through, replaced after it was used, given up when nobody is there. Knows no DOM but
 * the page's visibility.
 */
import { asCaptchaError, CaptchaError } from '../captcha-error.ts';
import type { IssuedToken } from '../obtain-token.ts';

/** Renew with a fifth of the life left: time for a slow phone to solve again. */
const RENEW_AT_FRACTION = 0.8;
/** Silent renewals without a sign of life; a tab left open over night must not compute until morning. */
const RENEWALS_MAX = 10;

export interface KeeperEvents {
  /** `quiet`: nobody asked; a task that needs the visitor must be refused. */
  request(signal: AbortSignal, quiet: boolean): Promise<IssuedToken>;
  onWorking(): void;
  onToken(token: string): void;
  onExpired(): void;
  onError(error: CaptchaError): void;
}

export class TokenKeeper {
  readonly #events: KeeperEvents;
  #token: string | null = null;
  #expiresAtMs = 0;
  #renewals = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #abort: AbortController | null = null;
  #running: Promise<string> | null = null;

  constructor(events: KeeperEvents) {
    this.#events = events;
  }

  get token(): string | null {
    return this.#token;
  }

  /** The token, solving for it first where there is none. Calls share one run. */
  obtain(): Promise<string> {
    this.#renewals = 0;
    if (this.#token !== null && performance.now() < this.#expiresAtMs) return Promise.resolve(this.#token);
    if (this.#running !== null) return this.#running;
    this.#token = null;
    this.#events.onWorking();
    return this.#run(false);
  }

  /** A fresh token in place of one that was used; the old one stays until the new one is there. */
  renew(): void {
    if (this.#running === null && this.#token !== null) this.#run(true).catch(() => this.#expire());
  }

  reset(): void {
    clearTimeout(this.#timer);
    this.#abort?.abort();
    this.#abort = null;
    this.#running = null;
    this.#token = null;
    this.#renewals = 0;
  }

  async #run(quiet: boolean): Promise<string> {
    const abort = new AbortController();
    this.#abort = abort;
    const running = this.#events.request(abort.signal, quiet).then(
      (issued) => {
        if (abort.signal.aborted) throw new CaptchaError('cancelled');
        this.#running = null;
        this.#keep(issued);
        return issued.token;
      },
      (error: unknown) => {
        const known = asCaptchaError(error);
        if (!abort.signal.aborted) {
          this.#running = null;
          if (!quiet) this.#events.onError(known);
        }
        throw known;
      },
    );
    this.#running = running;
    return running;
  }

  #keep({ token, lifetimeMs }: IssuedToken): void {
    this.#token = token;
    this.#expiresAtMs = performance.now() + lifetimeMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#due(), lifetimeMs * RENEW_AT_FRACTION);
    this.#events.onToken(token);
  }

  /** A hidden page is left alone: its token runs out, and the next touch of the form fetches another. */
  #due(): void {
    const leftMs = this.#expiresAtMs - performance.now();
    if (leftMs <= 0) return this.#expire();
    const expire = (): void => this.#expire();
    this.#timer = setTimeout(expire, leftMs);
    if (this.#renewals++ >= RENEWALS_MAX || document.hidden || this.#running !== null) return;
    // A failed attempt is not shown: the token still stands until its own end.
    this.#run(true).catch(() => undefined);
  }

  #expire(): void {
    if (this.#token === null) return;
    this.reset();
    this.#events.onExpired();
  }
}
