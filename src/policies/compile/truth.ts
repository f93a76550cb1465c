/** What is known of a condition. `and` is the least of its parts, `or` the greatest, `not` of `truth` is `YES - truth`. */
export type Truth = 0 | 1 | 2;
export const NO = 0;
/** It depends on something that nobody knows. */
export const UNKNOWN = 1;
export const YES = 2;
