/**
 * When the end of a key is announced: two weeks ahead, or one, and a day ahead. A key that was made for less than twice
 * that time is not announced so early: the person who made it knows.
 */
const DAY_MS = 24 * 3_600_000;

interface Warning {
  /** A name of the occasion, for the alert's id. */
  moment: string;
  expiresAt: number;
}

/** The warning that is due, or `null`. `daysAhead`: of the first one. */
export function expiryWarning(
  { issuedAt, expiresAt }: { issuedAt: number; expiresAt: number },
  daysAhead: number,
  nowMs: number,
): Warning | null {
  if (expiresAt <= nowMs) return null;
  const due = [1, daysAhead].find((days) => expiresAt - nowMs <= days * DAY_MS);
  if (due === undefined || expiresAt - issuedAt < 2 * due * DAY_MS) return null;
  return { moment: `${due}d ${expiresAt}`, expiresAt };
}
