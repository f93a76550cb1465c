/**
 * What the bot policy says about the use of the site's content, in the words of Content Signals (contentsignals.org) and
 * of the IETF's draft of AI preferences. Both change their words, so words are data. `inherit` says nothing.
 */
import type { BotPolicy } from '../../contract/management/bot-policy.ts';
import type { BotBehaviour } from '../../contract/vocabulary.ts';
import { behaviourAction } from '../bot-rules.ts';

type Words = readonly (readonly [word: string, behaviour: BotBehaviour])[];

const SIGNALS: Words = [
  ['search', 'search'],
  ['ai-input', 'agent'],
  ['ai-train', 'training'],
];
const USAGE: Words = [
  ['search', 'search'],
  ['train-ai', 'training'],
];

/** The value of the header `Content-Usage`; empty where nothing is said. */
export function contentUsage(policy: BotPolicy): string {
  return said(policy, USAGE, 'y', 'n');
}

/** Lines for the group of every crawler in robots.txt. */
export function contentNotes(policy: BotPolicy): string[] {
  const lines = [
    ['Content-Signal', said(policy, SIGNALS, 'yes', 'no')],
    ['Content-Usage', contentUsage(policy)],
  ];
  return lines.flatMap(([field, value]) => (value === '' ? [] : [`${field}: ${value}`]));
}

function said(policy: BotPolicy, words: Words, yes: string, no: string): string {
  return words
    .flatMap(([word, behaviour]) => {
      const action = behaviourAction(policy, behaviour);
      return action === 'inherit' ? [] : [`${word}=${action === 'allow' ? yes : no}`];
    })
    .join(', ');
}
