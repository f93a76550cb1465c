/** The frame and the style of every page of the demo site. */
import { createHash } from 'node:crypto';
import { html, raw } from 'hono/html';
import { htmlText, type Html } from '../../edge/answer/pages/page-layout.ts';
import { lantern } from './products.ts';
import type { Visit } from './visit.ts';

export interface ShopPage {
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

export function page(visit: Visit, { title, body, head, language = 'en' }: ShopPage): string {
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

/**
 * The style sheet of the demo site, in every page: a page loads no second file, so that one visit is one request in the
 * log. The CSP names it by its hash. Readable in light and dark and at 320 px.
 */
const style = `
:root{color-scheme:light dark;--bg:#f7f5f0;--card:#fff;--fg:#1f2933;--soft:#56616d;--line:#ddd8cc;--edge:#8b8678;--go:#1f5f5b;--on-go:#fff;--warm:#8a4b12;--sea:#d5e6e6;--clay:#f0ddd2;--sun:#f7ebc8;--leaf:#dcead9;--allow:#14653a;--allow-bg:#dcf3e4;--challenge:#7a4a00;--challenge-bg:#fdeecb;--block:#a3211a;--block-bg:#fde0dd;--mono:ui-monospace,SFMono-Regular,Menlo,monospace}
@media (prefers-color-scheme:dark){:root{--bg:#14181d;--card:#1d232a;--fg:#edf0f2;--soft:#b3bcc6;--line:#333c46;--edge:#7c8793;--go:#7fd1c7;--on-go:#06211f;--warm:#f0b777;--sea:#23393c;--clay:#3d2e28;--sun:#3a331f;--leaf:#25362a;--allow:#8ce0ae;--allow-bg:#123822;--challenge:#f5cf7f;--challenge-bg:#3d2f0c;--block:#ffb1a8;--block-bg:#481813}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.55 system-ui,-apple-system,"Segoe UI",sans-serif}
h1,h2,h3,p,ul,dl,dd{margin:0}
h1{font-size:clamp(1.7rem,4.500vw,2.500rem);line-height:1.15;letter-spacing:-.02em}
h2{font-size:1.3rem;line-height:1.25}
h3{font-size:1.05rem}
a{color:var(--go)}
.wrap{width:min(1080px,100% - 32px);margin-inline:auto}
.top{background:var(--card);border-bottom:1px solid var(--line)}
.top .wrap{display:flex;flex-wrap:wrap;align-items:center;gap:8px 18px;padding-block:12px}
.brand{display:flex;align-items:center;gap:8px;font-weight:700;font-size:1.15rem;color:var(--fg);text-decoration:none}
.mark{width:28px;height:28px;color:var(--go)}
.top ul{display:flex;flex-wrap:wrap;gap:2px 4px;padding:0;list-style:none}
.top li a{display:inline-flex;align-items:center;min-height:40px;padding:0 10px;border-radius:8px;color:var(--fg);text-decoration:none}
.top li a:hover{background:var(--bg)}
.top li a[aria-current]{color:var(--go);font-weight:600}
.top .lens{background:var(--leaf);font-weight:600}
.search{display:flex;flex:1 1 200px;max-width:320px;margin-inline-start:auto}
.search input{border-radius:10px 0 0 10px;border-inline-end:0}
.search button{border-radius:0 10px 10px 0;padding-inline:14px}
main{padding-block:28px 48px;display:grid;gap:24px}
main>*{min-width:0}
.hero{display:grid;grid-template-columns:minmax(0,1fr) auto;align-items:center;gap:20px;padding:clamp(20px,4vw,40px);border-radius:22px;background:linear-gradient(120deg,var(--leaf),var(--sea) 60%,var(--sun))}
.hero div:first-child{display:grid;gap:14px;justify-items:start}
.hero p{max-width:34rem;font-size:1.08rem}
.hero .hero-pictures{display:flex;align-items:end;gap:0}
.hero-pictures svg{width:clamp(84px,13vw,150px);height:auto}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,225px),1fr));gap:18px;padding:0;list-style:none}
.card{display:grid;gap:6px;align-content:start;background:var(--card);border:1px solid var(--line);border-radius:18px;overflow:hidden}
.product a{display:grid;color:inherit;text-decoration:none;height:100%;grid-template-rows:auto 1fr}
.product:hover{border-color:var(--edge)}
.product .text{display:grid;gap:4px;padding:14px 16px 16px;align-content:start}
.product .text p{color:var(--soft);font-size:.94rem}
.price{font-weight:700;color:var(--warm)!important}
.tile{display:grid;place-items:center;padding:16px}
.tile svg{width:min(100%,210px);height:auto}
.tile-sea{background:var(--sea)}.tile-clay{background:var(--clay)}.tile-sun{background:var(--sun)}.tile-leaf{background:var(--leaf)}
.row{display:flex;flex-wrap:wrap;gap:12px;align-items:center}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,320px),1fr));gap:24px;align-items:start}
.panel{background:var(--card);border:1px solid var(--line);border-radius:18px;padding:clamp(16px,3vw,26px);display:grid;grid-template-columns:minmax(0,1fr);gap:14px}
.stack{display:grid;gap:12px;justify-items:start}
.narrow{max-width:460px}
label{display:grid;gap:5px;font-weight:600}
input,textarea{width:100%;min-height:44px;padding:9px 12px;border:1px solid var(--edge);border-radius:10px;background:var(--card);color:var(--fg);font:inherit}
textarea{min-height:110px;resize:vertical}
.button,button{display:inline-flex;align-items:center;justify-content:center;min-height:44px;padding:8px 20px;border:1px solid transparent;border-radius:10px;background:var(--go);color:var(--on-go);font:inherit;font-weight:600;text-decoration:none;cursor:pointer}
.quiet{background:none;color:var(--fg);border-color:var(--edge)}
:is(a,button,input,textarea,summary):focus-visible{outline:3px solid var(--go);outline-offset:2px}
.soft{color:var(--soft)}
.notice{padding:12px 16px;border-radius:12px;background:var(--sun)}
.notice-bad{background:var(--block-bg);color:var(--block);font-weight:600}
.notice-good{background:var(--allow-bg);color:var(--allow);font-weight:600}
table{width:100%;border-collapse:collapse}
td,th{padding:10px 6px;text-align:start;border-bottom:1px solid var(--line)}
.number{text-align:end;white-space:nowrap}
.told{background:var(--card);border-top:1px solid var(--line);padding-block:18px;font-size:.92rem;color:var(--soft)}
.told .wrap{display:grid;gap:8px}
.told b{color:var(--fg)}
code,pre{font-family:var(--mono);font-size:.88rem}
code{overflow-wrap:anywhere}
pre{margin:0;padding:12px 14px;border-radius:12px;background:var(--bg);border:1px solid var(--line);overflow:auto;max-height:280px;white-space:pre-wrap;overflow-wrap:anywhere}
.chip{display:inline-block;padding:3px 12px;border-radius:99px;font-weight:700;background:var(--bg);border:1px solid var(--line)}
.chip-allow{background:var(--allow-bg);color:var(--allow);border-color:transparent}
.chip-challenge{background:var(--challenge-bg);color:var(--challenge);border-color:transparent}
.chip-block{background:var(--block-bg);color:var(--block);border-color:transparent}
.clients{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,300px),1fr));gap:14px;padding:0;list-style:none}
.client{padding:16px;display:grid;grid-template-rows:auto 1fr auto;gap:8px}
.client[data-chosen=true]{border-color:var(--go);box-shadow:0 0 0 1px var(--go)}
.client p{color:var(--soft);font-size:.94rem}
.count{font-variant-numeric:tabular-nums}
@media (max-width:640px){.hero{grid-template-columns:minmax(0,1fr)}.search{max-width:none;flex-basis:100%;order:3}}
@media (forced-colors:active){.button,button,.chip{border-color:ButtonText}}
`.replaceAll('\n', '');

/** Not a byte more than the hash covers. */
export const styleElement = raw(`<style>${style}</style>`);
const hash = createHash('sha256').update(style).digest('base64');

/** No script of the page's own but files, no picture but those in the page, nothing from elsewhere. */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  `style-src 'sha256-${hash}'`,
  "img-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'self'",
  "base-uri 'none'",
].join('; ');
