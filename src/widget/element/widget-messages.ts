/**
 * What the widget says. English is built in; other languages come from the `languages` script, which
 * is loaded only when the page or the visitor asks for one of them.
 */
import { loadAsset } from '../asset-loader.ts';
import type { ScriptLocation } from '../script-location.ts';

/** The order of a language's row. `prompt`: the box before anything happened. `task`: above a picture task. */
const messageKeys = [
  'prompt',
  'working',
  'verified',
  'failed',
  'expired',
  'offline',
  'task',
  'retry',
  'close',
] as const;
export type MessageKey = (typeof messageKeys)[number];
export type WidgetMessages = Readonly<Record<MessageKey, string>>;
/** One text per key; rows are a third of the bytes that objects would be. */
export type LanguageRow = readonly [
  prompt: string,
  working: string,
  verified: string,
  failed: string,
  expired: string,
  offline: string,
  task: string,
  retry: string,
  close: string,
];

export interface SpokenLanguage {
  tag: string;
  direction: 'ltr' | 'rtl';
  messages: WidgetMessages;
}

const englishRow: LanguageRow = [
  'I am human',
  'Verifying…',
  'Verified',
  'Verification failed',
  'Verification expired',
  'Verification service unreachable',
  'Please solve the task below.',
  'Try again',
  'Close',
];
export const english: SpokenLanguage = spoken('en', englishRow);

/** The language asked for, its base language, or English; never rejects. */
export async function speak(location: ScriptLocation, language: string): Promise<SpokenLanguage> {
  const wanted = language.toLowerCase();
  const base = wanted.split('-')[0]!;
  if (base === 'en') return english;
  const table = await loadAsset<Record<string, LanguageRow>>(location, 'languages').catch(() => ({}));
  const tag = [wanted, base].find((candidate) => Object.hasOwn(table, candidate));
  return tag === undefined ? english : spoken(tag, (table as Record<string, LanguageRow>)[tag]!);
}

function spoken(tag: string, row: LanguageRow): SpokenLanguage {
  const messages = Object.fromEntries(messageKeys.map((key, index) => [key, row[index]])) as WidgetMessages;
  return { tag, direction: /^(?:ar|fa|he|ur)$/.test(tag) ? 'rtl' : 'ltr', messages };
}
