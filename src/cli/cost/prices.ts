/**
 * List prices of Workers Paid in dollars, as of November 2026. The only place that has them: the `cost` command and the
 * table of docs/operations.md are computed from here. The plan's own 5 dollars a month, and what they include, are left
 * out.
 */
const MILLION = 1_000_000;

export const prices = {
  workerRequest: 0.3 / MILLION,
  workerCpuMs: 0.02 / MILLION,
  objectRequest: 0.15 / MILLION,
  objectGigabyteSecond: 12.5 / MILLION,
  objectRowWritten: 1 / MILLION,
  objectGigabyteMonth: 0.2,
  r2Write: 4.5 / MILLION,
  r2GigabyteMonth: 0.015,
  d1RowRead: 0.001 / MILLION,
} as const;
