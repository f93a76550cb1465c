/**
 * The interstitial, shown instead of a challenged document. It carries everything its script needs as data, every text
 * it may show as an inert template, a held submission as a form, and a way through without scripts.
 */
import { html } from 'hono/html';
import { CLEARANCE_ACTION } from '../../../contract/captcha/challenge-constants.ts';
import { pickLanguage } from '../../../locales/accept-language.ts';
import type { LocalisedPage } from '../../../locales/messages.ts';
import { type Html, type PageInput, pageScript, renderPage } from './page-layout.ts';

/** The way through without scripts: a link that opens after the wait. */
export interface WaitLink {
  url: string;
  waitSeconds: number;
}

/** What the frame needs after the wait to set the cookie, with a slow ledger. */
const FRAME_SECONDS = 5;

export interface ChallengePageInput extends PageInput {
  siteKey: string;
  /** Lowest level of a solved challenge that counts. */
  level?: number;
  /** Path and query to go to after passing, as the edge has checked it. */
  returnTo: string;
  action?: string;
  /**
   * A challenged submission, sealed. Posted to `url` as field `seal` after solving. Without scripts a hidden frame gets
   * clearance from the `noScript` link, and a button sends the submission after the wait (`null`: only with scripts).
   */
  replay?: { url: string; seal: string; noScript: WaitLink | null };
  /** The way through without scripts: a page that opens by itself after `waitSeconds`. */
  noScript?: WaitLink;
  /** Whether the visitor gets a session here too. Policies of the site's pages may keep the protect script from opening one. */
  opensSession?: boolean;
  /** Nonce of this page's load, for the session. */
  loadNonce?: string;
  /** Whether waiting helps where there is no way without scripts: the address has pages again in ten minutes. */
  hasPagesLater?: boolean;
  /** Why the visitor sees this again. */
  notice?: 'failed' | 'expired' | 'offline';
}

/** Texts the script shows, by state. `cookies`, beside them, is also shown for a loop. */
const states = ['working', 'done', 'sent', 'failed', 'expired', 'offline'] as const;

export function renderChallengePage(input: ChallengePageInput): string {
  const localised = pickLanguage(input.acceptLanguage, input.languages);
  const { messages } = localised;
  const { branding } = input;
  return renderPage(input, localised, {
    title: branding.title ?? messages.challengeTitle,
    noScriptTitle: hasWayWithoutScripts(input) ? messages.noScriptLink : messages.needsScript,
    hidesReference: input.notice === undefined,
    head: html`${blockedStyle(input)} ${noScriptStyle(input)} ${noScriptRefresh(input)} ${noScriptForm(input)}
    ${pageScript(input, 'interstitial.js')}`,
    data: html` data-api="/__protect" data-sitekey="${input.siteKey}" data-action="${input.action ?? CLEARANCE_ACTION}"
    data-return-to="${input.returnTo}" data-level="${String(input.level ?? 0)}"
    ${input.opensSession ? html`data-session="${input.loadNonce ?? ''}"` : null}`,
    body: html`<p>${branding.message ?? messages.challengeText}</p>
      ${input.notice === undefined ? null : html`<p>${messages[input.notice]}</p>`} ${noScriptLater(input, localised)}
      <p role="status" id="status"></p>
      <p class="blocked">${messages.scriptBlocked}</p>
      <progress aria-labelledby="status" max="1" value="0" hidden></progress>
      <div data-visual></div>
      <button type="button" hidden>${messages.retry}</button>
      ${states.map((state) => html`<template data-state="${state}">${messages[state]}</template>`)}
      <template data-state="unavailable">${messages.unavailableTitle}</template>
      <template data-state="cookies">${messages.cookiesTitle} – ${messages.cookies}</template>
      ${heldSubmission(input, localised)} ${noScriptLink(input, localised)}`,
  });
}

function heldSubmission({ replay }: ChallengePageInput, { messages }: LocalisedPage): Html | null {
  if (replay === undefined) return null;
  return html`<form method="post" action="${replay.url}" enctype="text/plain" hidden>
      <input type="hidden" name="seal" value="${replay.seal}" />
      <button>${messages.noScriptLink}</button>
    </form>
    ${replay.noScript && html`<noscript><iframe src="${replay.noScript.url}" title="" hidden></iframe></noscript>`}`;
}

/** Shows the held submission's own button after the wait, where no script sends it. */
function noScriptForm({ replay, nonce }: ChallengePageInput): Html | null {
  if (!replay?.noScript) return null;
  return html`<noscript
    ><style nonce="${nonce}">
      form[hidden] {
        display: block !important;
        visibility: hidden;
        animation: later 0s ${replay.noScript.waitSeconds + FRAME_SECONDS}s forwards;
      }
    </style></noscript
  >`;
}

function noScriptRefresh({ noScript }: ChallengePageInput): Html | null {
  if (noScript === undefined) return null;
  return html`<noscript><meta http-equiv="refresh" content="${noScript.waitSeconds};url=${noScript.url}" /></noscript>`;
}

function hasWayWithoutScripts({ noScript, replay }: ChallengePageInput): boolean {
  return noScript !== undefined || Boolean(replay?.noScript);
}

/** What a script takes to load and show its first text, on a slow phone. */
const SCRIPT_SECONDS = 8;

/** Says so where scripts run and a blocker stops the page's own, which would leave nothing but a heading. */
function blockedStyle({ nonce }: ChallengePageInput): Html {
  return html`<style nonce="${nonce}">
    .blocked {
      display: none;
    }
    .blocked[data-shown] {
      display: block;
    }
    [role='status']:not([data-state]) ~ .blocked {
      display: block;
      visibility: hidden;
      animation: later 0s ${SCRIPT_SECONDS}s forwards;
    }
    @keyframes later {
      to {
        visibility: visible;
      }
    }
  </style>`;
}

function noScriptLater(input: ChallengePageInput, { messages }: LocalisedPage): Html | null {
  if (input.hasPagesLater !== true || hasWayWithoutScripts(input)) return null;
  return html`<noscript><p>${messages.needsScriptLater}</p></noscript>`;
}

/** Hides the heading for scripts. Who cannot go on without scripts sees the reference. */
function noScriptStyle(input: ChallengePageInput): Html {
  const reference = hasWayWithoutScripts(input) ? '' : '.reference[hidden]{display:block!important}';
  return html`<noscript
    ><style nonce="${input.nonce}">
      .scripted,
      [role='status'],
      [role='status'] ~ .blocked {
        display: none !important;
      }
      ${reference}
    </style></noscript
  >`;
}

function noScriptLink({ noScript }: ChallengePageInput, { messages }: LocalisedPage): Html | null {
  if (noScript === undefined) return null;
  return html`<noscript>
    <p><a class="button" href="${noScript.url}">${messages.noScriptLink}</a></p></noscript
  >`;
}
