/**
 * A time in ISO 8601: to the second, a fraction of it, or the minute. Without an offset it is UTC. Days that do not
 * exist are refused.
 */
import * as z from 'zod/mini';

const zones = { offset: true, local: true } as const;

export const isoTimestamp = z.union(
  [z.iso.datetime(zones), z.iso.datetime({ ...zones, precision: -1 })],
  'is not a time such as 2027-01-31T12:00:00Z',
);
