/** The numbers of one hour or day, of every kind of captcha or of one. */
import type { ResponseOf } from '../../api/service-api.ts';

export type TrafficRow = ResponseOf<'/gettrafficdata'>[number];
export const kinds = ['all', 'pow', 'image', 'puzzle'] as const;
export type Kind = (typeof kinds)[number];

/** Those of every kind are in the row itself. */
export function countsOf(row: TrafficRow, kind: Kind): TrafficRow['pow'] {
  return kind === 'all' ? row : row[kind];
}
