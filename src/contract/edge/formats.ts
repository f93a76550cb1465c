/**
 * Formats of what the service writes for its edges. This release writes and reads all of these, newest first: the newest
 * one and the one before, so that an edge and a service of neighbouring releases share one, whichever of the two is
 * deployed first. docs/decisions/0104-two-formats-at-a-time.md says which change needs another format.
 */
type Formats = readonly [newest: string, ...before: string[]];

/** Formats of rulesets: a base with the deltas over it. */
export const rulesetFormats: Formats = ['GHRULES3'];
/** Formats of the table of bots. Each has a snapshot of rules within it, so a new format of rulesets needs a new one here. */
export const botTableFormats: Formats = ['GHBOTS02/GHRULES3'];
/** Formats of an instance's configuration. */
export const configFormats: Formats = ['GHCONFIG1'];

/** How an edge says what it reads. */
export const READS_PARAMETER = 'reads';
const allFormats = [...rulesetFormats, ...botTableFormats, ...configFormats];
/** For the query of a call. */
export const READS_QUERY = `${READS_PARAMETER}=${allFormats.join()}`;

/**
 * The formats that the service and an edge share, newest first. `reads` is what the edge names in its call. An edge that
 * names no known format gets the oldest.
 */
export function formatsFor(formats: Formats, reads: string | null): Formats {
  const names = reads?.split(',') ?? [];
  const [newest, ...before] = formats.filter((format) => names.includes(format));
  return [newest ?? formats.at(-1) ?? formats[0], ...before];
}
