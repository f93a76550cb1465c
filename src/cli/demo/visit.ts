/**
 * One visit to the demo shop: who is logged in, what is in the cart, and what the gate said. Everything a browser sends
 * is bounded and checked, because the demo is an origin like any other.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { header } from '../../contract/edge/headers.ts';
import { productOf } from './products.ts';

const SESSIONS_MAX = 1000;
const BODY_MAX_BYTES = 16 * 1024;
const PIECES_MAX = 20;
const USER_COOKIE = 'shop_user';
export const CART_COOKIE = 'shop_cart';
/** The demo's only account. It is printed on the log-in page. */
export const DEMO_EMAIL = 'ada@example.com';
export const DEMO_PASSWORD = 'lantern';

export interface Visit {
  path: string;
  query: URLSearchParams;
  /** What the search field shows. */
  wanted: string;
  /** Email address, or `null`: not logged in. */
  user: string | null;
  /** Pieces by slug. */
  cart: ReadonlyMap<string, number>;
  cartCount: number;
  requestId: string | null;
  decision: string | null;
}

/** Who is logged in, by the cookie's value. */
export class ShopSessions {
  readonly #users = new Map<string, string>();

  /** @returns the cookie to set, or `null` for a wrong password. */
  logIn(email: string, password: string): string | null {
    if (!isSame(email.trim().toLowerCase(), DEMO_EMAIL) || !isSame(password, DEMO_PASSWORD)) return null;
    const id = randomBytes(18).toString('base64url');
    this.#users.set(id, DEMO_EMAIL);
    if (this.#users.size > SESSIONS_MAX) this.#users.delete(this.#users.keys().next().value ?? '');
    return `${USER_COOKIE}=${id}; Path=/; HttpOnly; SameSite=Lax`;
  }

  logOut(request: IncomingMessage): string {
    this.#users.delete(cookieOf(request, USER_COOKIE));
    return `${USER_COOKIE}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0`;
  }

  visit(request: IncomingMessage): Visit {
    // `OPTIONS *` and addresses of proxies are no page.
    const target = request.url?.startsWith('/') === true ? request.url : '/*';
    const url = new URL(`http://shop${target}`);
    const cart = cartOf(cookieOf(request, CART_COOKIE));
    const said = (name: string): string | null => {
      const value = request.headers[name];
      return typeof value === 'string' && /^[\w-]{1,64}$/.test(value) ? value : null;
    };
    return {
      path: url.pathname,
      query: url.searchParams,
      wanted: url.pathname === '/search' ? (url.searchParams.get('q') ?? '').slice(0, 100) : '',
      user: this.#users.get(cookieOf(request, USER_COOKIE)) ?? null,
      cart,
      cartCount: [...cart.values()].reduce((sum, pieces) => sum + pieces, 0),
      requestId: said(header.requestId),
      decision: said(header.decision),
    };
  }
}

function isSame(given: string, wanted: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === other.length && timingSafeEqual(one, other);
}

function cookieOf(request: IncomingMessage, name: string): string {
  const found = (request.headers.cookie ?? '').split(/;\s*/).find((pair) => pair.startsWith(`${name}=`));
  return found?.slice(name.length + 1) ?? '';
}

/** `slug:pieces` with dots between. What is no product of the shop is left out. */
function cartOf(text: string): Map<string, number> {
  const cart = new Map<string, number>();
  for (const entry of text.slice(0, 1024).split('.')) {
    const [slug = '', count = ''] = entry.split(':');
    if (productOf(slug) !== null && /^\d{1,2}$/.test(count)) cart.set(slug, Math.min(Number(count), PIECES_MAX));
  }
  return cart;
}

/** The cookie of a cart with one piece more. */
export function cartCookie(cart: ReadonlyMap<string, number>, added: string | null): string {
  const next = new Map(cart);
  if (added !== null && productOf(added) !== null) next.set(added, Math.min((next.get(added) ?? 0) + 1, PIECES_MAX));
  const text = added === null ? '' : [...next].map(([slug, pieces]) => `${slug}:${pieces}`).join('.');
  return `${CART_COOKIE}=${text}; Path=/; HttpOnly; SameSite=Lax${added === null ? '; Max-Age=0' : ''}`;
}

/** The fields of an urlencoded form, or `null` when the body is longer than any form of the shop. */
export async function formOf(request: IncomingMessage): Promise<URLSearchParams | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The rest is read and dropped, so that the sender can read the answer.
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes <= BODY_MAX_BYTES) chunks.push(chunk as Buffer);
  }
  return bytes > BODY_MAX_BYTES ? null : new URLSearchParams(Buffer.concat(chunks).toString());
}
