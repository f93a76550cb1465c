/**
 * Every text of the gate's pages, by stable key, in every language. The type makes a language that
 * lacks a key fail to compile. Texts are plain: no markup, no placeholders.
 */
import { english } from './messages-english.ts';

export interface PageMessages {
  challengeTitle: string;
  challengeText: string;
  working: string;
  done: string;
  sending: string;
  sent: string;
  failed: string;
  expired: string;
  offline: string;
  cookies: string;
  retry: string;
  noScript: string;
  noScriptLink: string;
  blockedTitle: string;
  blockedText: string;
  sendAgainTitle: string;
  sendAgainText: string;
  tooLargeTitle: string;
  tooLargeText: string;
  originTitle: string;
  originText: string;
  unavailableTitle: string;
  unavailableText: string;
  cookiesTitle: string;
  support: string;
  reference: string;
}

export const pageLanguages: Readonly<Record<string, PageMessages>> = { en: english };
