/** The numbers of one hour or day, of every kind of captcha or of one. */
import type { Schema } from '../../api/service-api.ts';

export type TrafficRow = Schema<'TrafficRow'>;
export const kinds = ['all', 'pow', 'image', 'puzzle'] as const;
export type Kind = (typeof kinds)[number];

/** Those of every kind are in the row itself. */
export function countsOf(row: TrafficRow, kind: Kind): Schema<'CaptchaCounts'> {
  return kind === 'all' ? row : row[kind];
}
