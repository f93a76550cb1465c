/**
 * The bot's-eye view: sends a request as another client would, and shows what that client gets. It works without
 * scripts; a small file beside it only copies.
 */
import { html } from 'hono/html';
import type { Html } from '../../edge/answer/pages/page-layout.ts';
import { type Client, clients, curlCommand, type ClientOutcome, sendAs } from './clients.ts';
import { page } from './page.ts';
import type { Visit } from './visit.ts';

export interface Gate {
  /** Of the gate in front of the demo site. */
  url: string;
  /** Of the console, without a link that signs in. */
  consoleUrl: string;
  /** The `--state` flag of the commands that the page prints; empty for the default directory. */
  stateFlag: string;
}

/** Copies the text of the element that a button names. */
export const copyScript = `for (const button of document.querySelectorAll('[data-copies]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent);
    button.textContent = 'Copied';
  });
}
`;

/** `client`: the id of the one whose requests are sent. Another id sends none. */
export async function botsPage(visit: Visit, gate: Gate | null, client: string | null): Promise<string> {
  const chosen = clients.find(({ id }) => id === client) ?? null;
  return page(visit, {
    title: 'Bot’s-eye view',
    head: html`<script src="/bots/copy.js" defer></script>`,
    body: html`<div class="stack">
        <h1>What does a bot see?</h1>
        <p>Send a request as somebody else, and read what the gate answers. The console’s live tail shows it too.</p>
      </div>
      ${chosen === null || gate === null ? null : await result(chosen, gate)}
      ${gate === null ? html`<p class="notice">This site runs without a gate, so there is nobody to ask.</p>` : choices(chosen)}`,
  });
}

function choices(chosen: Client | null): Html {
  return html`<ul class="clients">
    ${clients.map(
      (client) =>
        html`<li class="card client" data-chosen="${String(client === chosen)}">
          <h2>${client.name}</h2>
          <p>${client.about}</p>
          <form action="/bots" method="post">
            <input type="hidden" name="client" value="${client.id}" />
            <button class="${client === chosen ? '' : 'quiet'}">Send as ${client.id}</button>
          </form>
        </li> `,
    )}
  </ul>`;
}

async function result(client: Client, gate: Gate): Promise<Html> {
  let outcome: ClientOutcome;
  try {
    outcome = await sendAs(client, gate.url);
  } catch {
    return html`<p class="notice notice-bad" role="alert">The gate did not answer. Is it running?</p>`;
  }
  const { last, counts } = outcome;
  const { reference } = last;
  return html`<section class="panel" aria-labelledby="result">
    <h2 id="result">${client.name}</h2>
    <p class="row">
      ${counts.map(
        ({ status, decision, requests }) =>
          html`<span class="chip ${chipOf(decision)}"
            >${requests === 1 ? '' : `${requests} × `}${status} ${decision ?? 'no gate'}</span
          > `,
      )}
    </p>
    <p>${meaning(client, last.decision, last.status)}</p>
    <div class="columns">
      <div class="stack">
        <h3>The same from a terminal</h3>
        <pre id="command" tabindex="0">${curlCommand(client, gate.url)}</pre>
        <button class="quiet" type="button" data-copies="command" hidden>Copy the command</button>
        ${reference === null ? null : why(gate, reference)}
      </div>
      <div class="stack">
        <h3>What it read</h3>
        <pre tabindex="0">${readable(last.contentType, last.text)}</pre>
      </div>
    </div>
  </section>`;
}

function why({ consoleUrl, stateFlag }: Gate, reference: string): Html {
  return html`<h3>Why?</h3>
    <p><a href="${consoleUrl}/verdicts/${reference}">The console explains it</a>, and so does</p>
    <pre id="why" tabindex="0">npm run gatehouse -- why ${reference}${stateFlag}</pre>
    <button class="quiet" type="button" data-copies="why" hidden>Copy it</button>`;
}

function chipOf(decision: string | null): string {
  return decision === 'allow' || decision === 'challenge' || decision === 'block' ? `chip-${decision}` : '';
}

function meaning({ id }: Client, decision: string | null, status: number): string {
  if (status === 429) return 'A limit stopped it. The shop saw the first requests only.';
  if (id === 'googlebot' && decision !== 'block')
    return `A name is only claimed until its proof arrives: an address that Google publishes, or a host name of Google’s. ${
      decision === 'challenge'
        ? 'Google publishes all of them, so until then the policy gives a claim what an impostor gets: a challenge.'
        : 'Here the policy lets a claim pass like any other visitor, without what it gives the real Googlebot.'
    }`;
  if (decision === 'block') return 'The gate refused it. The shop never saw the request.';
  if (decision === 'challenge')
    return 'The gate asks for proof that a browser is there. Until then the shop sees nothing. A person passes without noticing.';
  if (id === 'browser') return 'The page comes at once, with the script that opens a session in the background.';
  return 'The gate let it pass, and the shop answered. Add a rule or a limit in the console, then send it again.';
}

/** Markup without its style and empty lines: what a program would look at. */
function readable(contentType: string, text: string): string {
  if (!contentType.includes('html')) return text.slice(0, 1500);
  const body = text.replaceAll(/<style[\s\S]*?(?:<\/style>|$)/g, '<style>…</style>').replaceAll(/\n\s*\n/g, '\n');
  return body.slice(0, 1500);
}
