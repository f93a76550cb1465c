/**
 * What a verdict, a session and a challenge use. Tests count the rows, the calls and the bytes as the platform counts
 * them and compare them with these figures, so that the bill stays true when the code changes.
 */

/** A batch is stored as one row, which is deleted when its verdicts are sealed. */
export const ROWS_PER_BATCH = 2;
/** Verdicts of a full segment. */
export const SEGMENT_VERDICTS = 20_000;
/** Index, counts and isolates of a full segment, and their deletion once the retention is over. */
export const ROWS_PER_SEGMENT = 650;
/** A path, user agent or another value that its shard has not counted yet, and its deletion. */
export const ROWS_PER_NEW_TEXT = 2;
/** From the opening to the deletion, with one change of its score. */
export const ROWS_PER_SESSION = 3;
/** The records of a captcha, its counts, its spent token, and their deletion. */
export const ROWS_PER_CHALLENGE = 4;

/** A challenge, the opening, a renewal and two reports. */
export const SERVICE_CALLS_PER_SESSION = 5;
/** Spending the challenge, opening, a renewal and two reports. */
export const OBJECT_CALLS_PER_SESSION = 5;
export const SERVICE_CALLS_PER_CHALLENGE = 3;
export const OBJECT_CALLS_PER_CHALLENGE = 4;
/** By RULES_POLL_SECONDS = 5, day and night. */
export const POLLS_PER_LOCATION = 17_280;
export const OBJECT_CALLS_PER_POLL = 2;
export const D1_ROWS_PER_SERVICE_CALL = 2;

/** Of a verdict in R2: its row of the Parquet file. */
export const SEALED_BYTES_PER_VERDICT = 60;
/** Of a verdict in its shard: index and counts. */
export const INDEX_BYTES_PER_VERDICT = 22;
export const BYTES_PER_SESSION = 1500;
export const SESSIONS_KEPT_MAX = 16_000_000;

/** The whole process of an edge on two busy cores, `npm run bench -- edge`. */
export const EDGE_CPU_MS = 0.36;
export const SERVICE_CPU_MS_PER_BATCH = 3;
export const SERVICE_CPU_MS_PER_CALL = 1;
/** How long an object is awake for a call. Nearly all of it is waiting until the platform has stored the write. */
export const OBJECT_MS_PER_CALL = 10;
export const OBJECT_GIGABYTES = 0.128;

/** The platform's bound of one object, and what is left free of it. */
export const OBJECT_BYTES_MAX = 10e9;
export const OBJECT_FILLED_MAX = 0.8;
export const OBJECT_CALLS_PER_SECOND_MAX = 1000;
export const SHARDS_MAX = 256;

/** The gate sends a batch after this time, and under load after a second. */
export const WINDOW_SECONDS = 0.25;
export const WINDOW_UNDER_LOAD_SECONDS = 1;
/** Verdicts of the short window from which on the long one holds. */
export const LOAD_VERDICTS = 8;
export const BATCH_VERDICTS_MAX = 500;
