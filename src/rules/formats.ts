/**
 * Formats of rulesets: a base with the deltas over it. This release writes and reads all of these, newest first. They are
 * the newest one and the one before, so that an edge and a service of neighbouring releases share one, whichever of the
 * two is deployed first (docs/decisions/0104-two-ruleset-formats-at-a-time.md).
 */
export const rulesetFormats: readonly [newest: string, ...before: string[]] = ['GHRULES3'];

/** What edges that do not say what they read can read: those of the first release. */
const FIRST_FORMAT = 'GHRULES3';

/** How an edge says what it reads. */
export const READS_PARAMETER = 'reads';

/** The format for an edge that reads these, of which there may be none. Then it keeps the rules that it has. */
export function formatFor(reads: string | null): string {
  const names = reads === null ? [FIRST_FORMAT] : reads.split(',');
  return rulesetFormats.find((format) => names.includes(format)) ?? rulesetFormats[0];
}
