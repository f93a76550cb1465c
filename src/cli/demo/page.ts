/** The frame of every page of the demo site. */
import { html, raw } from 'hono/html';
import { type Html, htmlText } from '../../edge/answer/pages/page-layout.ts';
import { lantern } from './pictures.ts';
import { styleElement } from './style.ts';
import type { Visit } from './visit.ts';

export interface PageParts {
  title: string;
  body: Html;
  /** Additions to `<head>`. */
  head?: Html;
  language?: string;
}

const links = [
  ['/', 'Shop'],
  ['/contact', 'Contact'],
  ['/widget', 'Widget'],
] as const;

export function page(visit: Visit, { title, body, head, language = 'en' }: PageParts): string {
  const { path, user, cartCount, wanted } = visit;
  const current = (target: string): Html => raw(path === target ? ' aria-current="page"' : '');
  const link = (target: string, text: string): Html =>
    html`<li><a href="${target}" ${current(target)}>${text}</a></li> `;
  const written = html`<!doctype html>
    <html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} – Lantern Goods</title>
        ${styleElement} ${head ?? null}
      </head>
      <body>
        <header class="top">
          <div class="wrap">
            <a class="brand" href="/">${lantern} Lantern Goods</a>
            <nav aria-label="Shop">
              <ul>
                ${links.map(([target, text]) => link(target, text))} ${link('/cart', `Cart (${cartCount})`)}
                ${user === null ? link('/login', 'Log in') : link('/account', user)}
                <li><a class="lens" href="/bots" ${current('/bots')}>Bot’s-eye view</a></li>
              </ul>
            </nav>
            <form class="search" action="/search" role="search">
              <input
                type="search"
                name="q"
                value="${wanted}"
                maxlength="100"
                aria-label="Search the shop"
                placeholder="Search"
              />
              <button>Go</button>
            </form>
          </div>
        </header>
        <main class="wrap">${body}</main>
        <footer class="told"><div class="wrap">${told(visit)}</div></footer>
      </body>
    </html> `;
  return htmlText(written);
}

function told({ requestId, decision }: Visit): Html {
  const seen = html`<p>
    See what reaches this site: <a href="/echo/hello?from=page">the request</a> · <a href="/api/products">the API</a> ·
    <a href="/api/time">the time</a> · <a href="/sse">a stream</a> ·
    <a href="/hits">how often each path was called</a>
  </p>`;
  if (requestId === null) {
    return html`<p><b>This page came straight from the shop.</b> No gate saw the request.</p>
      ${seen}`;
  }
  return html`<p>
      <b>Gatehouse saw this request first</b> and told the shop: decision <b>${decision ?? 'unknown'}</b>, reference
      <code>${requestId}</code>.
    </p>
    ${seen}`;
}
