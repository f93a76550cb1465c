/** Far more requests than usual, or more that are refused, fail or take long. */
import type { AlertFacts } from '../alert.ts';
import { count } from './kind-words.ts';
import type { KindWords } from './kind-words.ts';

const reasons: Readonly<Record<string, string>> = {
  refused: ', and most of them are challenged or blocked',
  'origin-errors': ', and the origin fails',
  'origin-latency': ', and the origin is slow',
};

export const attack: KindWords = {
  title: 'An attack',
  begun: (about, facts) =>
    `${about} gets ${count(facts['rate'])} requests a second, usually ${count(facts['usualRate'])}` +
    `${reasons[String(facts['reason'])] ?? ''}. Attack mode is ${mode(facts)}` +
    (facts['told'] === 'last' ? ' Further attacks of the next hours are told only if they are much larger.' : ''),
  ended: (about, facts) =>
    facts['watched'] === 'no'
      ? `The traffic of ${about} is no longer watched. Attack mode is ${mode(facts)}`
      : `The traffic of ${about} is as usual again. Attack mode is ${mode(facts)}`,
};

function mode({ attackMode }: AlertFacts): string {
  return attackMode === 'on' ? 'on.' : 'off.';
}
