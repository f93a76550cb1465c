/**
 * A moment as ISO 8601 writes it: to the second, a fraction of it, or the minute; without an offset it is UTC.
 * The day must be one that there is.
 */
import * as z from 'zod/mini';

const zones = { offset: true, local: true } as const;

export const isoTimestamp = z.union(
  [z.iso.datetime(zones), z.iso.datetime({ ...zones, precision: -1 })],
  'is not a time such as 2027-01-31T12:00:00Z',
);
