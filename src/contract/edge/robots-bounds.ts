/** RFC 9309 section 2.5: a crawler reads at least as much of robots.txt. */
export const ROBOTS_MAX_BYTES = 512_000;
