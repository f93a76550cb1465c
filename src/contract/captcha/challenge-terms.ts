/** What the edge must know of the challenge API to pass it on, apart from its schemas. */
/** The action the edge demands of a token that is to buy clearance. */
export const CLEARANCE_ACTION = 'clearance';
/** Upper bound of a sealed challenge or token, in characters (the field's own bound). */
export const TOKEN_MAX_CHARS = 131_072;
