/**
 * Renews a session's JWT behind the response. It asks in the JWT's last minutes and hands the new one to the visitor
 * with a later response. A failed renewal costs nothing: the protect script opens a new session.
 */
import type { WaitUntil } from '../../bytes/polled.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';
import type { EdgeSession, EdgeVisitor } from '../../contract/edge/edge-api.ts';
import type { ServiceClient } from '../feed/service-client.ts';
import type { Count } from '../feed/upstream.ts';

const PENDING_MAX = 4000;
const RENEW_TIMEOUT_MS = 5000;
/** The same JWT is not renewed again before this, so that a failing service is not called by every request. */
const RETRY_AFTER_MS = 15_000;

export class SessionRenewals {
  readonly #service: Pick<ServiceClient, 'session'>;
  readonly #count: Count;
  /** Expiring JWT → when its renewal was asked for, and its successor once there is one. */
  readonly #renewals = new BoundedMap<{ askedAtMs: number; successor: EdgeSession | null }>(PENDING_MAX);

  constructor(service: Pick<ServiceClient, 'session'>, count: Count) {
    this.#service = service;
    this.#count = count;
  }

  /** The successor where there is one. Else starts a renewal in `waitUntil`, unless one was started lately. */
  successorOf(jwt: string, visitor: () => EdgeVisitor, nowMs: number, waitUntil: WaitUntil): EdgeSession | null {
    const known = this.#renewals.get(jwt);
    if (known?.successor) return known.successor;
    if (known && nowMs - known.askedAtMs < RETRY_AFTER_MS) return null;
    this.#renewals.set(jwt, { askedAtMs: nowMs, successor: null });
    waitUntil(this.#renew(jwt, visitor(), nowMs));
    return null;
  }

  async #renew(jwt: string, visitor: EdgeVisitor, askedAtMs: number): Promise<void> {
    const renewed = await this.#service.session(visitor, jwt, RENEW_TIMEOUT_MS);
    if (renewed.ok) this.#renewals.set(jwt, { askedAtMs, successor: renewed.value });
    else this.#count('session_refresh_failures');
  }
}
