/** What a kind of alert says. `about` is the name of the instance or of the key; facts are those of its source. */
import type { AlertFacts } from '../alert.ts';

export interface KindWords {
  /** A few words, as a headline. */
  title: string;
  /** What happened, then what to do. */
  begun(about: string, facts: AlertFacts): string;
  /** Only of kinds that end. */
  ended(about: string, facts: AlertFacts): string;
}

/** Of a kind that happens once. */
export const neverEnds = (): string => '';

export function count(value: string | number | undefined): string {
  return Number(value ?? 0).toLocaleString('en-US');
}

export function percent(value: string | number | undefined): string {
  return `${Math.round(Number(value ?? 0) * 100)} %`;
}
