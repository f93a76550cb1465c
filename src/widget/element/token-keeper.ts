/**
 * The life of a widget's token: obtained once, renewed before it expires so that a form that takes long to fill in
 * still verifies, replaced after use, and dropped when the visitor is away. Of the DOM, it reads only the page's
 * visibility.
 */
import { asCaptchaError, CaptchaError } from '../token/captcha-error.ts';
import type { IssuedToken } from '../token/obtain-token.ts';

/** The remaining fifth of the lifetime is enough for a slow phone to solve again. */
const RENEW_AT_FRACTION = 0.8;
/** Renewals without any use of the form. A tab that is left open overnight must not compute until morning. */
const RENEWALS_MAX = 10;

export interface KeeperEvents {
  /** `isAsked`: the visitor asked for it by now. Otherwise a task that needs the visitor must be refused. */
  request(signal: AbortSignal, isAsked: () => boolean): Promise<IssuedToken>;
  /** Whether a token is replaced before it expires. */
  renews(): boolean;
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
  #asked = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #abort: AbortController | null = null;
  #running: Promise<string> | null = null;

  constructor(events: KeeperEvents) {
    this.#events = events;
  }

  get token(): string | null {
    return this.#token;
  }

  /**
   * The token, after solving where there is none. Concurrent calls share one run. `asked`: the visitor asked for it, by
   * the box or by sending the form, and not only by touching the form.
   */
  obtain(asked: boolean): Promise<string> {
    this.#renewals = 0;
    if (this.#token !== null && performance.now() < this.#expiresAtMs) return Promise.resolve(this.#token);
    this.#asked ||= asked;
    if (this.#running !== null) return this.#running;
    this.#token = null;
    this.#events.onWorking();
    return this.#run(false);
  }

  /** Replaces a used token. The old one stays until the new one arrives. */
  renew(): void {
    if (this.#running === null && this.#token !== null) this.#run(true).catch(() => this.#expire());
  }

  /** The visitor closed the task. */
  cancel(): void {
    this.reset();
    this.#events.onError(new CaptchaError('cancelled'));
  }

  reset(): void {
    clearTimeout(this.#timer);
    this.#abort?.abort();
    this.#abort = null;
    this.#running = null;
    this.#token = null;
    this.#renewals = 0;
    this.#asked = false;
  }

  async #run(quiet: boolean): Promise<string> {
    const abort = new AbortController();
    this.#abort = abort;
    const running = this.#events
      .request(abort.signal, () => this.#asked)
      .then(
        (issued) => {
          if (abort.signal.aborted) throw new CaptchaError('cancelled');
          this.#finish();
          this.#keep(issued);
          return issued.token;
        },
        (error: unknown) => {
          const known = asCaptchaError(error);
          if (!abort.signal.aborted) {
            const silent = quiet && !this.#asked;
            this.#finish();
            if (!silent) this.#events.onError(known);
          }
          throw known;
        },
      );
    this.#running = running;
    return running;
  }

  #finish(): void {
    this.#running = null;
    this.#asked = false;
  }

  #keep({ token, lifetimeMs }: IssuedToken): void {
    this.#token = token;
    this.#expiresAtMs = performance.now() + lifetimeMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#due(), lifetimeMs * RENEW_AT_FRACTION);
    this.#events.onToken(token);
  }

  /** The token of a hidden page expires; the next use of the form obtains another. */
  #due(): void {
    const leftMs = this.#expiresAtMs - performance.now();
    if (leftMs <= 0) return this.#expire();
    const expire = (): void => this.#expire();
    this.#timer = setTimeout(expire, leftMs);
    if (!this.#events.renews() || this.#renewals++ >= RENEWALS_MAX || document.hidden || this.#running !== null) return;
    // A failed renewal is not shown: the token is still valid until it expires.
    this.#run(true).catch(() => undefined);
  }

  #expire(): void {
    if (this.#token === null) return;
    this.reset();
    this.#events.onExpired();
  }
}
