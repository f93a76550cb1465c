/** Version and bounds of a VerdictRecord, apart from its schema: whoever writes records needs no more. */
export const VERDICT_RECORD_VERSION = 1;
/** Longest free text kept of a visitor's header or path, in characters: bounds a hostile visitor's row. */
export const RECORD_TEXT_MAX_CHARS = 1024;
/** Rules listed in one record: a visitor cannot match more than this without a pathological rule set. */
export const RECORD_FIRED_RULES_MAX = 64;
/** Records in one append call. */
export const VERDICT_BATCH_MAX_RECORDS = 500;
