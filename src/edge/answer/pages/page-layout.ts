/**
 * The frame that every page shares: language and direction, style, the site's name, logo and host, whom to contact, and
 * the reference a visitor can quote, long and short.
 */
import { html, raw } from 'hono/html';
import { protectPrefix } from '../../../contract/edge/headers.ts';
import { shortReference } from '../../../contract/edge/short-reference.ts';
import type { LocalisedPage, PageLanguages } from '../../../locales/messages.ts';
import type { Branding } from '../../../contract/management/instance-policy.ts';

/** The input of every page: plain data. A page is a pure function from it to a string. */
export interface PageInput {
  /** The CSP's nonce, see `pageSecurityHeaders`. */
  nonce: string;
  /** Shown as `Reference: …`, the same as `X-Protect-Request-Id`. */
  requestId: string;
  /** The request's `Accept-Language`, unchanged. */
  acceptLanguage: string | null;
  /** Texts to choose from; English at least. */
  languages: PageLanguages;
  branding: Branding;
  /** The host that the visitor asked for, as the URL has it. */
  host: string;
  /** Content hashes of the browser scripts; a page loads `interstitial.js` or `copy.js`. */
  assetHashes: Readonly<Record<string, string>>;
  /** Style sheet, from `pageStyle`. Empty before the first config is loaded. */
  style: string;
}

/** What `html` returns: with every value escaped that is not itself from `html`. */
export type Html = ReturnType<typeof html>;

interface PageParts {
  title: string;
  /** In place of the heading, where no script runs. */
  noScriptTitle?: string;
  /** Whether the reference stays hidden until the page's script shows it. */
  hidesReference?: boolean;
  /** Additions to `<head>`. */
  head?: Html | null;
  /** What follows the heading. */
  body: Html;
  /** Data attributes for the page's script, on `<main id="gatehouse">`. */
  data?: Html | null;
}

export function renderPage(input: PageInput, { tag, direction, messages }: LocalisedPage, parts: PageParts): string {
  const { branding, nonce, requestId, style } = input;
  const { title, noScriptTitle, hidesReference = false } = parts;
  const short = shortReference(requestId);
  const page = html`<!doctype html>
    <html lang="${tag}" dir="${direction}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex, nofollow" />
        <title>${title}</title>
        <style nonce="${nonce}">
          ${raw(style)}
        </style>
        ${parts.head ?? pageScript(input, 'copy.js')}
      </head>
      <body>
        <main id="gatehouse" ${parts.data ?? null}>
          ${site(input)}
          ${
            noScriptTitle === undefined
              ? html`<h1>${title}</h1>`
              : html`<h1 class="scripted">${title}</h1>
                  <noscript><h1>${noScriptTitle}</h1></noscript>`
          }
          ${parts.body}
          <footer>
            <div class="reference" ${hidesReference ? html`hidden` : null}>
              ${hidesReference ? helpLink(input, messages.helpLink) : null}
              <p>
                ${messages.reference}${short && html` <strong dir="ltr">${short}</strong>`}
                <button type="button" class="copy" data-copied="${messages.copied}" aria-live="polite" hidden>
                  ${messages.copy}
                </button>
              </p>
              <p><code dir="ltr">${requestId}</code></p>
            </div>
            ${contactLine(input, messages.contact)}
            ${branding.supportUrl === undefined ? null : html`<p><a href="${branding.supportUrl}" rel="noopener">${messages.support}</a></p>`}
            ${branding.privacyUrl === undefined ? null : html`<p><a href="${branding.privacyUrl}" rel="noopener">${messages.privacy}</a></p>`}
          </footer>
        </main>
      </body>
    </html> `;
  return htmlText(page);
}

/** What a visitor can do after a failure. A new tab: this page may hold a submission. */
function helpLink({ requestId }: PageInput, text: string): Html {
  return html`<p><a href="${protectPrefix}help?reference=${requestId}" target="_blank" rel="noopener">${text}</a></p>`;
}

/** @throws TypeError where a value of the template is a promise, which would be sent unwritten. */
export function htmlText(page: Html): string {
  if (page instanceof Promise) throw new TypeError('a page waits for a value');
  return page.toString();
}

/** A browser script of the gate, first-party. */
export function pageScript({ nonce, assetHashes }: PageInput, name: string): Html {
  return html`<script nonce="${nonce}" src="/__protect/${name}?v=${assetHashes[name] ?? ''}" defer></script>`;
}

/** A mail begins with the reference as its subject, so that nobody has to copy it. */
function contactLine({ branding: { contact }, requestId }: PageInput, label: string): Html | null {
  if (contact === undefined) return null;
  const address = contact.startsWith('https://') ? contact : `mailto:${contact}?subject=${requestId}`;
  return html`<p>${label}: <a href="${address}" rel="noopener">${contact}</a></p>`;
}

/** The name of the site and its host. A logo's alternative text is the name. */
function site({ branding: { logoUrl, name }, host }: PageInput): Html {
  const parts = [logoUrl === undefined ? name : undefined, host].filter((part) => part !== undefined && part !== '');
  const line = parts.length === 0 ? null : html`<p class="site">${parts.join(' · ')}</p>`;
  return logoUrl === undefined ? html`${line}` : html`<img src="${logoUrl}" alt="${name ?? ''}" />${line}`;
}

/**
 * Headers of every page the gate makes: never stored, never indexed, and only its own script and style run.
 * `frame-ancestors 'self'` and not `'none'`: a challenged same-origin frame must be able to show its challenge, and no
 * other site may frame it. `nonce`: random, from the caller. `logoUrl`: the branding's logo; only its host may serve
 * pictures.
 */
export function pageSecurityHeaders(nonce: string, logoUrl?: string): Record<string, string> {
  if (!/^[A-Za-z0-9+/_-]{16,}={0,2}$/.test(nonce)) throw new TypeError('A CSP nonce is base64 of at least 12 bytes');
  const policy = [
    "default-src 'none'",
    `script-src 'nonce-${nonce}' 'self'`,
    "worker-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    `style-src 'nonce-${nonce}'`,
    `img-src 'self'${logoUrl?.startsWith('https://') ? ` ${new URL(logoUrl).origin}` : ''}`,
    "form-action 'self'",
    "frame-ancestors 'self'",
    "base-uri 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types gatehouse',
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-store',
    'x-robots-tag': 'noindex, nofollow',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    vary: 'Accept-Language, Cookie, User-Agent',
  };
}
