/**
 * Bounds of a telemetry report, kept apart from its schema: the protect script caps its numbers by them and must not
 * carry a schema library into every page.
 */

/** Far above what a person does in one page view. */
export const TELEMETRY_COUNT_MAX = 100_000;
/** A day: people leave pages open. */
export const TELEMETRY_ELAPSED_MAX_MS = 86_400_000;
