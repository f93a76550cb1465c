/** Limits of edge access rules, apart from their schemas: the console knows the limits and carries no schema. */

/** Rules in one create or delete call. A larger call is refused with 413 and this number. */
export const EDGE_RULES_PER_CALL_MAX = 10_000;
