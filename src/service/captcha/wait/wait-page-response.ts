/**
 * The page for visitors without scripts. A style shows its button when the wait is over; pressed earlier, it shows the
 * same page again. The page has no script, no picture and no other host. It fits a frame of 300 by 200 pixels and uses
 * the colours of the visitor's browser.
 */
import { html, raw } from 'hono/html';
import { HONEYPOT_FIELD } from '../../../captcha/plan/honeypot.ts';
import { encodeBase64url } from '../../../bytes/base64url.ts';
import { pickLanguage } from '../../../locales/accept-language.ts';
import type { WaitPageMessages } from '../../../locales/messages.ts';
import { waitPages } from '../../../locales/wait-page.generated.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import { WAIT_MS } from '../challenge/issue-challenge.ts';
import { padded } from '../challenge/padded-response.ts';

export type WaitStep =
  /** `padBytes`: noise before the content, for the traffic filter of the site. */
  | { step: 'start' | 'wait'; hostname: string; challenge: string; padBytes: number }
  | { step: 'token'; hostname: string; token: string }
  | { step: 'needs-script' | 'busy' | 'unavailable'; status: number };

const STYLE = `
:root{color-scheme:light dark;font:16px/1.4 system-ui,sans-serif}
body{margin:0;padding:12px}
h1{font-size:1rem;margin:0}
p{margin:8px 0}
button{font:inherit;min-height:44px;padding:8px 16px}
textarea{box-sizing:border-box;width:100%;font:12px/1.3 monospace}
.later{visibility:hidden;animation:show 0s ${WAIT_MS + 200}ms forwards}
.away{position:absolute;inset-inline-start:-9999px}
@keyframes show{to{visibility:visible}}
`;

export async function waitPageResponse(
  { request, requestId }: Pick<ServiceCall, 'request' | 'requestId'>,
  given: WaitStep,
): Promise<Response> {
  const { tag, direction, messages } = pickLanguage(request.headers.get('accept-language'), waitPages);
  const nonce = encodeBase64url(crypto.getRandomValues(new Uint8Array(16)));
  const head = await html`<!doctype html>
    <html lang="${tag}" dir="${direction}">
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width" />
      <title>${messages.title}</title>
     `;
  const page = await html`<style nonce="${nonce}">
      ${raw(STYLE)}
    </style>
    <main>
      <h1>${messages.title}</h1>
      ${contentOf(given, messages, requestId)}
    </main>
    </html>`;
  // The noise is a comment.
  return new Response(padded(`${head}<!--`, 'padBytes' in given ? given.padBytes : 0, `-->${page}\n`), {
    status: 'status' in given ? given.status : 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'nonce-${nonce}'; form-action 'self'; base-uri 'none'; frame-ancestors ${framedBy(given)}`,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex, nofollow',
      vary: 'Accept-Language, Referer',
    },
  });
}

function contentOf(given: WaitStep, texts: WaitPageMessages, requestId: string) {
  switch (given.step) {
    case 'start':
    case 'wait': {
      const first = given.step === 'start';
      const field = html`<input type="hidden" name="challenge" value="${given.challenge}" />`;
      const trap = html`<input
        class="away"
        name="${HONEYPOT_FIELD}"
        tabindex="-1"
        autocomplete="off"
        aria-hidden="true"
      />`;
      const button = first ? html`<button>${texts.start}</button>` : html`<button class="later">${texts.next}</button>`;
      return html`<p role="status">${first ? texts.fillFirst : texts.wait}</p>
        <form method="post">${field}${trap}${button}</form>`;
    }
    case 'token': {
      // The same form as the field of the widget, so that a backend reads both alike.
      const value = JSON.stringify({ token: given.token });
      return html`<p><label for="t">${texts.copy}</label></p>
        <textarea id="t" rows="4" readonly>${value}</textarea>
        <p>${texts.valid}</p>`;
    }
    case 'needs-script':
      return html`<p>${texts.needsScript}</p>`;
    case 'busy':
      return html`<p>${texts.busy}</p>`;
    case 'unavailable':
      return html`<p>${texts.unavailable} <code dir="ltr">${requestId}</code></p>`;
  }
}

/**
 * Pages of the host that the challenge is for. A policy cannot name an IPv6 address, so such a host allows any page. A
 * name with characters that a policy would read otherwise (`;`) allows none.
 */
function framedBy(given: WaitStep): string {
  if (!('hostname' in given) || given.hostname.startsWith('[')) return '*';
  if (!/^[a-z0-9._-]+$/.test(given.hostname)) return "'none'";
  return `https://${given.hostname}:* http://${given.hostname}:*`;
}
