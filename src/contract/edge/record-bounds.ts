/** Version and bounds of a verdict record, kept apart from its schema: a writer of records needs no more. */
export const VERDICT_RECORD_VERSION = 1;
/** Longest text kept of a visitor's header or path: bounds the row that a hostile visitor causes. */
export const RECORD_TEXT_MAX_CHARS = 1024;
/** Longest name of what decided: the id of a rule, the name of a limit or a policy, the pattern of a path. */
export const RECORD_NAME_MAX_CHARS = 320;
/** Rules listed in one record; more than one visitor matches in any sensible rule set. */
export const RECORD_FIRED_RULES_MAX = 64;
/** Records in one append call. */
export const VERDICT_BATCH_MAX_RECORDS = 500;
/**
 * On batches of verdicts: the clock of the edge at the send, in epoch milliseconds. When it is further from the service's
 * than `CLOCK_SKEW_MAX_MS`, the service stores nothing and answers 409 with its own clock in the same header. On its
 * answers to polls of the version: the clock of the service.
 */
export const SENT_AT_HEADER = 'x-gatehouse-sent-at';
/** Clocks of two data centres differ by less. */
export const CLOCK_SKEW_MAX_MS = 300_000;
