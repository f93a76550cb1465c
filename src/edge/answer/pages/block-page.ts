/**
 * The page of a blocked request: it says what happened and what to do, and which reference to quote. It never says which
 * rule decided, which would teach an attacker more than it helps a visitor.
 */
import { html } from 'hono/html';
import { pickLanguage } from '../../../locales/accept-language.ts';
import type { PageInput } from './page-input.ts';
import { renderPage } from './page-layout.ts';

export function renderBlockPage(input: PageInput): string {
  const localised = pickLanguage(input.acceptLanguage, input.languages);
  const { messages } = localised;
  return renderPage(input, localised, {
    title: messages.blockedTitle,
    body: html`<p>${messages.blockedReason}</p>
      <p>${messages.blockedText}</p>`,
  });
}
