/** Constants of the challenge API that edge and widget need without the schemas. */

/** The action that the edge demands of a token before it grants clearance. */
export const CLEARANCE_ACTION = 'clearance';
/** Tells an edge that verifies from a server of the site, to a service that gets nothing else to tell them by. */
export const EDGE_USER_AGENT = 'Gatehouse edge';
/** Upper bound of a sealed challenge or token, in characters. */
export const TOKEN_MAX_CHARS = 131_072;
/** The form field that the widget writes and the edge reads. */
export const tokenField = 'captcha-response';
