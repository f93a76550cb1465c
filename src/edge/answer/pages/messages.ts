/**
 * Every text of the gate's pages, by stable key, in every language. The type makes a language that
 * lacks a key fail to compile. Texts are plain: no markup, no placeholders.
 */
import { arabic, hebrew, persian } from './messages-right-to-left.ts';
import { chinese, japanese, korean } from './messages-asian.ts';
import { dutch, french, german, italian, portuguese, spanish } from './messages-western.ts';
import { english } from './messages-english.ts';
import { polish, russian, turkish, ukrainian } from './messages-eastern.ts';

export interface PageMessages {
  challengeTitle: string;
  challengeText: string;
  working: string;
  done: string;
  sent: string;
  failed: string;
  expired: string;
  offline: string;
  cookiesTitle: string;
  cookies: string;
  retry: string;
  noScriptLink: string;
  blockedTitle: string;
  blockedText: string;
  sendAgainTitle: string;
  tooLargeTitle: string;
  notDelivered: string;
  originTitle: string;
  originText: string;
  unavailableTitle: string;
  unavailableText: string;
  support: string;
  reference: string;
}

/** By base language (ISO 639-1). */
export type Languages = Readonly<Record<string, PageMessages>>;

export const pageLanguages: Languages = {
  en: english,
  de: german,
  fr: french,
  es: spanish,
  pt: portuguese,
  it: italian,
  nl: dutch,
  pl: polish,
  tr: turkish,
  ru: russian,
  uk: ukrainian,
  ar: arabic,
  he: hebrew,
  fa: persian,
  ja: japanese,
  zh: chinese,
  ko: korean,
};
