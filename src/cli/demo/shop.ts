/** Routes of the demo shop: pages, forms and the API. What it does not know is left to the test paths of `origin.ts`. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { header } from '../../contract/edge/headers.ts';
import { botsPage, copyScript, type Gate } from './bots-page.ts';
import { contentSecurityPolicy } from './page.ts';
import { foundProducts, productOf, type Product } from './products.ts';
import {
  accountPage,
  cartPage,
  contactPage,
  donePage,
  homePage,
  logInPage,
  plainPage,
  productPage,
  searchPage,
} from './shop-pages.ts';
import { ShopSessions, cartCookie, formOf, type Visit } from './visit.ts';
import { widgetFile } from './widget-pages.ts';

type Reply = (status: number, body: string, more?: Readonly<Record<string, string>>, type?: string) => void;

export class Shop {
  readonly #sessions = new ShopSessions();
  readonly #gate: Gate | null;
  #isSending = false;

  constructor(gate: Gate | null) {
    this.#gate = gate;
  }

  async respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const visit = this.#sessions.visit(request);
    const reply: Reply = (status, body, more = {}, type = 'text/html; charset=utf-8') => {
      const headers = {
        'content-type': type,
        'content-length': Buffer.byteLength(body),
        'content-security-policy': contentSecurityPolicy,
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
        ...more,
      };
      response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : body);
    };
    if (request.method === 'POST') await this.#post(request, visit, reply);
    else {
      request.resume();
      await this.#get(visit, reply);
    }
  }

  async #get(visit: Visit, reply: Reply): Promise<void> {
    const { path } = visit;
    const product = path.startsWith('/products/') ? productOf(path.slice('/products/'.length)) : null;
    const widget = path === '/widget' || path.startsWith('/widget/') ? widgetFile(visit) : null;
    if (path === '/') reply(200, homePage(visit));
    else if (path === '/search') reply(200, searchPage(visit));
    else if (product !== null) reply(200, productPage(visit, product));
    else if (path === '/cart') reply(200, cartPage(visit));
    else if (path === '/contact') reply(200, contactPage(visit));
    else if (path === '/login') reply(200, logInPage(visit, null));
    else if (path === '/account') reply(visit.user === null ? 303 : 200, accountPage(visit), toLogIn(visit));
    else if (path === '/bots') reply(200, await botsPage(visit, this.#gate, null), { 'cache-control': 'no-store' });
    else if (path === '/bots/copy.js') reply(200, copyScript, {}, 'text/javascript; charset=utf-8');
    else if (widget !== null) reply(200, widget.body, {}, widget.type);
    else reply(404, plainPage(visit, 'Not found', 'The shop has no such page.'));
  }

  async #post(request: IncomingMessage, visit: Visit, reply: Reply): Promise<void> {
    const form = await formOf(request);
    const field = (name: string): string => form?.get(name) ?? '';
    const isVerified = request.headers[header.verified] === 'true';
    if (form === null) reply(413, plainPage(visit, 'Too large', 'The shop reads forms up to 16 KB.'));
    else if (visit.path === '/login') {
      const cookie = this.#sessions.logIn(field('email'), field('password'));
      if (cookie === null) reply(401, logInPage(visit, field('email').slice(0, 200)));
      else reply(303, '', { location: '/account', 'set-cookie': cookie });
    } else if (visit.path === '/logout') {
      reply(303, '', { location: '/', 'set-cookie': this.#sessions.logOut(request) });
    } else if (visit.path === '/cart') {
      reply(303, '', { location: '/cart', 'set-cookie': cartCookie(visit.cart, field('product')) });
    } else if (visit.path === '/checkout') {
      const text = `Thank you, ${field('name').slice(0, 200)}. Nothing was charged and nothing will arrive.`;
      reply(200, donePage({ ...visit, cartCount: 0 }, 'Ordered', text, isVerified), {
        'set-cookie': cartCookie(visit.cart, null),
      });
    } else if (visit.path === '/contact') {
      const text = `The shop got a message of ${field('message').length} characters, and threw it away.`;
      reply(200, donePage(visit, 'Thank you', text, isVerified));
    } else if (visit.path === '/bots') await this.#sendAs(visit, field('client'), reply);
    else reply(404, plainPage(visit, 'Not found', 'The shop has no such form.'));
  }

  /** One client at a time: each sends dozens of requests through the gate. */
  async #sendAs(visit: Visit, client: string, reply: Reply): Promise<void> {
    if (this.#isSending) {
      const text = 'The requests of another client are on their way. Try again in a few seconds.';
      reply(503, plainPage(visit, 'One at a time', text), { 'cache-control': 'no-store', 'retry-after': '5' });
      return;
    }
    this.#isSending = true;
    try {
      reply(200, await botsPage(visit, this.#gate, client), { 'cache-control': 'no-store' });
    } finally {
      this.#isSending = false;
    }
  }
}

function toLogIn({ user }: Visit): Record<string, string> {
  return user === null ? { location: '/login' } : {};
}

/** A path of the shop's API, or `null`. */
export function apiAnswer(path: string, query: URLSearchParams): object | null {
  if (path === '/api/time') return { now: new Date().toISOString() };
  if (path === '/api/products') return { products: foundProducts(query.get('q') ?? '').map(listed) };
  const product = path.startsWith('/api/products/') ? productOf(path.slice('/api/products/'.length)) : null;
  return product === null ? null : listed(product);
}

function listed({ slug, name, about, price }: Product): object {
  return { slug, name, about, priceCents: price };
}
