/**
 * The shop's pages: products, search, cart, what follows a form, and logging in. A wrong password is a 401, so that limits
 * on failed log-ins have something to count.
 */
import { html } from 'hono/html';
import type { Html } from '../../edge/answer/pages/page-layout.ts';
import { page } from './page.ts';
import { euros, foundProducts, drawn, productOf, products, type Product } from './products.ts';
import { DEMO_EMAIL, DEMO_PASSWORD, type Visit } from './visit.ts';

export function homePage(visit: Visit): string {
  return page(visit, {
    title: 'Things for a calm desk',
    body: html`<section class="hero">
        <div>
          <h1>Things for a calm desk</h1>
          <p>
            A demo shop behind Gatehouse. Browse it like a person, then look at it like a bot: every request is in the
            console’s live tail a second later.
          </p>
          <p class="row">
            <a class="button" href="/bots">Bot’s-eye view</a>
            <a class="button quiet" href="/login">Try a wrong password</a>
          </p>
        </div>
        <div class="hero-pictures">${drawn('lamp')}${drawn('fern')}${drawn('mug')}</div>
      </section>
      <h2>In the window</h2>
      ${grid(products)}`,
  });
}

export function searchPage(visit: Visit): string {
  const found = foundProducts(visit.wanted);
  const count = `${found.length} ${found.length === 1 ? 'product' : 'products'}`;
  return page(visit, {
    title: 'Search',
    body: html`<div class="stack">
        <h1>Search</h1>
        <h2>${visit.wanted === '' ? `All ${count}.` : `${count} for “${visit.wanted}”.`}</h2>
      </div>
      ${found.length === 0 ? html`<p class="panel">Nothing in the shop has these words. Try “lamp”.</p>` : grid(found)}`,
  });
}

function grid(shown: readonly Product[]): Html {
  return html`<ul class="grid">
    ${shown.map(
      ({ slug, name, about, price, drawn: drawing, tile }) =>
        html`<li class="card product">
          <a href="/products/${slug}">
            <div class="tile tile-${tile}">${drawn(drawing)}</div>
            <div class="text">
              <h3>${name}</h3>
              <p>${about}</p>
              <p class="price">${euros(price)}</p>
            </div>
          </a>
        </li> `,
    )}
  </ul>`;
}

export function productPage(visit: Visit, { slug, name, about, price, drawn: drawing, tile }: Product): string {
  return page(visit, {
    title: name,
    body: html`<div class="columns">
      <div class="card tile tile-${tile}">${drawn(drawing)}</div>
      <form class="stack" method="post" action="/cart">
        <h1>${name}</h1>
        <p>${about}</p>
        <p class="price">${euros(price)}</p>
        <input type="hidden" name="product" value="${slug}" />
        <button>Put it in the cart</button>
      </form>
    </div>`,
  });
}

export function cartPage(visit: Visit): string {
  const lines = [...visit.cart].flatMap(([slug, pieces]) => {
    const product = productOf(slug);
    return product === null ? [] : [{ product, pieces }];
  });
  const sum = lines.reduce((total, { product, pieces }) => total + product.price * pieces, 0);
  const empty = html`<p class="panel">Nothing is in it yet. <a href="/">Look around</a>.</p>`;
  return page(visit, {
    title: 'Cart',
    body: html`<h1>Cart</h1>
      ${lines.length === 0 ? empty : html`<div class="columns">${cartTable(lines, sum)} ${checkoutForm()}</div>`}`,
    head: widgetScript,
  });
}

function cartTable(lines: readonly { product: Product; pieces: number }[], sum: number): Html {
  return html`<div class="panel">
    <table>
      <thead>
        <tr>
          <th>Product</th>
          <th class="number">Pieces</th>
          <th class="number">Price</th>
        </tr>
      </thead>
      <tbody>
        ${lines.map(
          ({ product, pieces }) =>
            html`<tr>
              <td><a href="/products/${product.slug}">${product.name}</a></td>
              <td class="number">${pieces}</td>
              <td class="number">${euros(product.price * pieces)}</td>
            </tr> `,
        )}
        <tr>
          <th>Sum</th>
          <td></td>
          <td class="number"><b>${euros(sum)}</b></td>
        </tr>
      </tbody>
    </table>
  </div>`;
}

/** The edge adds the site key. */
export const widgetScript = html`<script src="/__protect/widget.js" defer></script>`;

function checkoutForm(): Html {
  return html`<form class="panel" method="post" action="/checkout">
    <h2>Check out</h2>
    <label>Name <input name="name" autocomplete="name" required maxlength="200" /></label>
    <label>Address <input name="address" autocomplete="street-address" required maxlength="200" /></label>
    <gatehouse-widget></gatehouse-widget>
    <button>Order</button>
    <p class="soft">Nothing is sold, and nothing is kept.</p>
  </form>`;
}

export function contactPage(visit: Visit): string {
  return page(visit, {
    title: 'Contact',
    head: widgetScript,
    body: html`<form class="panel narrow" method="post" action="/contact">
      <h1>Contact</h1>
      <label>Name <input name="name" autocomplete="name" maxlength="200" /></label>
      <label>Message <textarea name="message" maxlength="2000"></textarea></label>
      <gatehouse-widget></gatehouse-widget>
      <button>Send</button>
    </form>`,
  });
}

/** After a form. What was sent is told apart from the page by its escaping. */
export function donePage(visit: Visit, title: string, text: string, verified: boolean): string {
  const token = verified
    ? html`<p class="notice notice-good">Its captcha token verified.</p>`
    : html`<p class="notice">It came without a captcha token that verified. The gate let it pass.</p>`;
  return page(visit, {
    title,
    body: html`<div class="panel narrow">
      <h1>${title}</h1>
      <p>${text}</p>
      ${token}
      <p><a class="button" href="/">Back to the shop</a></p>
    </div>`,
  });
}

export function plainPage(visit: Visit, title: string, text: string): string {
  return page(visit, {
    title,
    body: html`<div class="stack">
      <h1>${title}</h1>
      <p>${text}</p>
      <p><a class="button" href="/">To the shop</a></p>
    </div>`,
  });
}

/** `email`: what was typed, after a wrong password. */
export function logInPage(visit: Visit, email: string | null): string {
  const isWrong = email !== null;
  return page(visit, {
    title: 'Log in',
    body: html`<div class="columns">
      <form class="panel" method="post" action="/login">
        <h1>Log in</h1>
        ${isWrong ? html`<p class="notice notice-bad" role="alert">Email and password do not match (401).</p>` : null}
        <label
          >Email
          <input name="email" type="email" autocomplete="username" required maxlength="200" value="${email ?? ''}"
        /></label>
        <label
          >Password <input name="password" type="password" autocomplete="current-password" required maxlength="200"
        /></label>
        <button>Log in</button>
      </form>
      <div class="stack">
        <h2>Things to try</h2>
        <p>The right one: <code>${DEMO_EMAIL}</code> with <code>${DEMO_PASSWORD}</code>.</p>
        <p>
          A wrong one is a 401 of the shop. Add a limit of <b>failed logins</b> in the console, under Policies and
          limits › Limits, and guess a few times: the gate stops the guesses, and the shop never sees them.
        </p>
        <p class="soft">A program that guesses is one of the <a href="/bots">bots</a>.</p>
      </div>
    </div>`,
  });
}

export function accountPage(visit: Visit): string {
  return page(visit, {
    title: 'Account',
    body: html`<form class="panel narrow" method="post" action="/logout">
      <h1>Hello</h1>
      <p>You are logged in as <b>${visit.user ?? ''}</b>.</p>
      <button class="quiet">Log out</button>
    </form>`,
  });
}
