/** Logging in to the demo shop. A wrong password is a 401, so that limits on failed log-ins have something to count. */
import { html } from 'hono/html';
import { page } from './page.ts';
import { DEMO_EMAIL, DEMO_PASSWORD, type Visit } from './visit.ts';

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
          A wrong one is a 401 of the shop. Add a limit <b>on failed logins</b> in the console, under Limits, and guess
          a few times: the gate stops the guesses, and the shop never sees them.
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
