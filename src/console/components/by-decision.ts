/** The series of requests by decision, as every chart of them shows it. */
import { count, counted } from '../format/numbers.ts';
import type { Series, SeriesRow } from './time-series.tsx';

type Decision = 'allow' | 'challenge' | 'block';

export const byDecision: readonly Series<Decision>[] = [
  { key: 'allow', name: 'allowed', colour: '--series-allow', style: 'bars' },
  { key: 'challenge', name: 'challenged', colour: '--series-challenge', style: 'bars' },
  { key: 'block', name: 'blocked', colour: '--series-block', style: 'bars' },
];

export function readDecisions(row: SeriesRow<Decision>): string {
  const parts = byDecision.map(({ key, name }) => ({ name, value: row[key] ?? 0 }));
  const total = parts.reduce((sum, { value }) => sum + value, 0);
  return `${counted(total, 'request')}, ${parts.map(({ name, value }) => `${count(value)} ${name}`).join(', ')}`;
}
