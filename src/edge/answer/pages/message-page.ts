/**
 * Pages that tell the visitor what became of a request that the gate blocked or could not carry on. Nothing is lost
 * silently, and no page claims that something was sent.
 */
import { html } from 'hono/html';
import { protectPrefix } from '../../../contract/edge/headers.ts';
import { pickLanguage } from '../../../locales/accept-language.ts';
import type { PageMessages } from '../../../locales/messages.ts';
import { type PageInput, renderPage } from './page-layout.ts';

/**
 * `send-again`: a submission that may not be held (cross-site, unreadable). `too-large`: above what is held.
 * `origin-unreachable`: 502 and 504. `cookies-off`: passed, but the browser kept no cookie. `needs-script`: waiting does not
 * pass here. `unavailable`: the gate cannot decide now. `too-many`: above a limit.
 */
export type MessageKind =
  | 'send-again'
  | 'too-large'
  | 'origin-unreachable'
  | 'cookies-off'
  | 'needs-script'
  | 'unavailable'
  | 'too-many';

const texts: Record<MessageKind, readonly [title: keyof PageMessages, text: keyof PageMessages]> = {
  'send-again': ['sendAgainTitle', 'notDelivered'],
  'too-large': ['tooLargeTitle', 'notDelivered'],
  'origin-unreachable': ['originTitle', 'originText'],
  'cookies-off': ['cookiesTitle', 'cookies'],
  'needs-script': ['needsScript', 'challengeText'],
  unavailable: ['unavailableTitle', 'unavailableText'],
  'too-many': ['tooManyTitle', 'unavailableText'],
};

export function renderMessagePage(kind: MessageKind, input: PageInput): string {
  const localised = pickLanguage(input.acceptLanguage, input.languages);
  const { messages } = localised;
  const [title, text] = texts[kind];
  return renderPage(input, localised, {
    title: messages[title],
    body: html`<p>${messages[text]}</p>`,
  });
}

/**
 * The page of a blocked request: it says what happened and what to do, and which reference to quote. It never says which
 * rule decided, which would teach an attacker more than it helps a visitor.
 */
export function renderBlockPage(input: PageInput): string {
  const localised = pickLanguage(input.acceptLanguage, input.languages);
  const { messages } = localised;
  return renderPage(input, localised, {
    title: messages.blockedTitle,
    body: html`<p>${messages.blockedReason}</p>
      <p>${messages.blockedText}</p>
      <p><a href="${protectPrefix}help?reference=${input.requestId}">${messages.helpLink}</a></p>`,
  });
}

/** What a refused visitor can change themselves, and what the reference is for. It needs no script. */
export function renderHelpPage(input: PageInput): string {
  const localised = pickLanguage(input.acceptLanguage, input.languages);
  const { messages } = localised;
  return renderPage(input, localised, {
    title: messages.helpTitle,
    head: html``,
    body: html`<p>${messages.helpCauses}</p>
      <ul>
        <li>${messages.helpNetwork}</li>
        <li>${messages.helpExtension}</li>
        <li>${messages.helpClock}</li>
        <li>${messages.helpOff}</li>
      </ul>
      <p>${messages.helpReference}</p>
      <p>${messages.helpSend}</p>`,
  });
}
