/** An origin does not respond, or responds with errors of its own. */
import type { AlertFacts } from '../alert.ts';
import { count, percent } from './kind-words.ts';
import type { KindWords } from './kind-words.ts';

export const originFailing: KindWords = {
  title: 'The origin fails',
  begun: (about, facts) =>
    `${originOf(about, facts)} failed ${count(facts['failed'])} of the last ${count(facts['requests'])} requests ` +
    `(${percent(facts['share'])}): no response, or a status of 500 and above.`,
  ended: (about, facts) => `${originOf(about, facts)} responds again.`,
};

/** Only those that the policies name have a name. */
function originOf(about: string, { origin }: AlertFacts): string {
  return origin === undefined ? `The origin of ${about}` : `The origin ${origin} of ${about}`;
}
