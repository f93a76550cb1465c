/**
 * Bounds of a telemetry report, apart from its schema: the protect script caps by them and must not
 * carry a schema library into every page.
 */

/** Far above what hands do in one page view. */
export const TELEMETRY_COUNT_MAX = 100_000;
/** A day: pages are left open. */
export const TELEMETRY_ELAPSED_MAX_MS = 86_400_000;
