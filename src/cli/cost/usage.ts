/**
 * What a verdict, a session and a challenge use. Tests count the rows, the calls and the bytes as the platform counts
 * them and compare them with these figures, so that the bill stays true when the code changes.
 */

/**
 * A batch of verdicts, reports or captcha events is stored as one row. Its table is dropped when all of it is sealed or
 * moved into pages, which writes none.
 */
export const ROWS_PER_BATCH = 1;
/** Verdicts of a full segment. */
export const SEGMENT_VERDICTS = 20_000;
/** Index, counts and isolates of a full segment, and their deletion once the retention is over. */
export const ROWS_PER_SEGMENT = 380;
/** A path, user agent or another value that its shard has not counted yet, and its deletion. */
export const ROWS_PER_NEW_TEXT = 2;
/** Opened, used, and one for what follows within ten minutes. Sessions expire by the table, which costs none. */
export const ROWS_PER_SESSION = 3;
/** A proof of work spends one key. Two rounds of pictures spend three more. They expire by the table too. */
export const ROWS_SPENT_PER_CHALLENGE = 1;
export const ROWS_SPENT_PER_PICTURE = 3;
/** Of challenges. */
export const PICTURES_SHARE = 0.2;

export const REPORTS_PER_SESSION = 2;
/** The opening brings the first of them, the others are asked for: two pieces at first, and one later. */
export const PIECES_PER_SESSION = 3;
/** A challenge, the opening, a renewal, the reports, the pieces of work, and a question for the last of them. */
export const SERVICE_CALLS_PER_SESSION = 3 + REPORTS_PER_SESSION + PIECES_PER_SESSION + 1;
/** Opening, a renewal and the reports. */
export const OBJECT_CALLS_PER_SESSION = 2 + REPORTS_PER_SESSION;
/** Issued, solved and verified: what the log hears of a captcha, from one isolate in batches. */
export const EVENTS_PER_CHALLENGE = 3;
export const SERVICE_CALLS_PER_CHALLENGE = 3;
/** Spends, and counted attempts of pictures. */
export const OBJECT_CALLS_PER_CHALLENGE = 1;
export const OBJECT_CALLS_PER_PICTURE = 5;
/** Of the watch for attacks: an isolate tells it what it has summed up, less often while little comes. */
export const WATCH_BUSY_SECONDS = 2;
export const WATCH_QUIET_SECONDS = 10;
/** Requests a second of an isolate that is busy. */
export const WATCH_BUSY_FROM = 10;
/** By RULES_POLL_SECONDS = 5, day and night. */
export const POLLS_PER_LOCATION = 17_280;
export const OBJECT_CALLS_PER_POLL = 2;
export const D1_ROWS_PER_SERVICE_CALL = 2;

/** Of a verdict in R2: its row of the Parquet file. */
export const SEALED_BYTES_PER_VERDICT = 100;
/** Of a report in R2. */
export const SEALED_BYTES_PER_REPORT = 250;
/** Of a verdict in its shard: index and counts. */
export const INDEX_BYTES_PER_VERDICT = 40;
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

/** The gate sends a lone verdict after this time, and several after a second. */
export const WINDOW_SECONDS = 0.25;
export const WINDOW_UNDER_LOAD_SECONDS = 1;
/** Verdicts of the short window from which on the long one holds. */
export const LOAD_VERDICTS = 2;
export const BATCH_VERDICTS_MAX = 500;
/** The same of reports and captcha events, in an isolate of the service. */
export const REPORTS_WINDOW_SECONDS = 5;
export const EVENTS_WINDOW_SECONDS = 1;
