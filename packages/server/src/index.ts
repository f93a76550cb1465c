/** What a backend needs to know of the widget and the gate: the names on the wire. */

/** The form field that the widget writes. Its value is JSON, `{"token": "…"}`, or the token alone. */
export const TOKEN_FIELD = 'captcha-response';
