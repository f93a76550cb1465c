/**
 * The frame that every page shares: language and direction, style, the instance's name and logo, and the reference a
 * visitor can quote.
 */
import { html, type Html, trustedHtml } from './html.ts';
import type { LocalisedPage } from '../../../locales/messages.ts';
import type { PageInput } from './page-input.ts';

export interface PageParts {
  title: string;
  /** Additions to `<head>`. */
  head?: Html | null;
  /** What follows the heading. */
  body: Html;
  /** Data attributes for the page's script, on `<main id="gatehouse">`. */
  data?: Html | null;
}

export function renderPage(input: PageInput, { tag, direction, messages }: LocalisedPage, parts: PageParts): string {
  const { branding, nonce, requestId, style } = input;
  const page = html`<!doctype html>
    <html lang="${tag}" dir="${direction}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex, nofollow" />
        <title>${parts.title}</title>
        <style nonce="${nonce}">
          ${trustedHtml(style)}
        </style>
        ${parts.head ?? null}
      </head>
      <body>
        <main id="gatehouse" ${parts.data ?? null}>
          ${logo(input)}
          <h1>${parts.title}</h1>
          ${parts.body}
          <footer>
            ${branding.supportUrl === undefined ? null : html`<p><a href="${branding.supportUrl}" rel="noopener">${messages.support}</a></p>`}
            ${branding.privacyUrl === undefined ? null : html`<p><a href="${branding.privacyUrl}" rel="noopener">${messages.privacy}</a></p>`}
            <p>${messages.reference}: <code dir="ltr">${requestId}</code></p>
          </footer>
        </main>
      </body>
    </html> `;
  return page.text;
}

/** The alternative text is the name. Without a logo, the name is shown as text. */
function logo({ branding: { logoUrl, name } }: PageInput): Html | null {
  if (logoUrl !== undefined) return html`<img src="${logoUrl}" alt="${name ?? ''}" />`;
  return name === undefined ? null : html`<p class="site">${name}</p>`;
}
