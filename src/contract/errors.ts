/**
 * Error keys and the one envelope that carries them. A key is stable and never translated; the message beside it may
 * change. Keys that comparable services share have the same name here.
 */
import { edgeErrorStatus } from './edge/edge-errors.ts';

export const errorStatus = {
  ...edgeErrorStatus,
  'API.NO_CONTENT_TYPE_HEADER': 400,
  'API.UNSUPPORTED_CONTENT_TYPE': 415,
  'API.TOO_MANY_ITEMS': 413,
  'API.INVALID_RULES': 400,
  'API.MISSING_AUTHORIZATION_HEADER': 401,
  'API.UNAUTHORIZED': 401,
  'API.KEY_EXPIRED': 401,
  'API.INSUFFICIENT_PERMISSIONS': 403,
  'API.FEATURE_NOT_ENABLED': 403,
  'API.ACCOUNT_DISABLED': 403,
  'API.PAYMENT_REQUIRED': 403,
  'API.METHOD_NOT_ALLOWED': 405,
  'API.UNKNOWN': 500,
  'API.INVALID_SITE_KEY': 400,
  'API.SITE_KEY_NOT_REGISTERED': 400,
  'API.UNAUTHORIZED_ORIGIN_URL': 400,
  'API.INCORRECT_CAPTCHA_TYPE': 400,
  'GENERAL.MISSING_SECRET_KEY': 400,
  'GENERAL.INVALID_SECRET_KEY': 401,
  'GENERAL.SITE_KEY_NOT_FOUND': 404,
  'GENERAL.ACCOUNT_NOT_FOUND': 404,
  'CAPTCHA.INVALID_CAPTCHA_CHALLENGE': 400,
  'CAPTCHA.INVALID_SOLUTION': 400,
  'PORTAL.CANNOT_DEACTIVATE_LAST_SITE': 400,
  'PORTAL.CANNOT_DELETE_LAST_USER': 400,
  'PORTAL.CANNOT_MODIFY_OWNER_USER': 400,
  'PORTAL.DUPLICATE_SITE_NAME': 400,
  'PORTAL.DOMAIN_LIMIT_EXCEEDED': 400,
  'PORTAL.USER_ALREADY_EXISTS': 400,
  'CONSOLE.NOT_FROM_CONSOLE': 403,
  'CONSOLE.SIGNED_OUT': 401,
  'CONSOLE.LINK_SPENT': 401,
  'CONSOLE.SIGN_IN_LATE': 401,
  'CONSOLE.SIGN_IN_AGAIN': 403,
  'CONSOLE.PASSKEY_REFUSED': 401,
  'CONSOLE.LAST_PASSKEY': 403,
  'CONSOLE.NOT_A_MEMBER': 403,
  'CONSOLE.PROVIDER_REFUSED': 401,
} as const;
export type ErrorKey = keyof typeof errorStatus;

/** `{path, message}` of each rejected field; at most 100. */
export interface ErrorDetail {
  path: string;
  message: string;
  index?: number;
}

export interface ErrorEnvelope {
  error: { code: number; message: string; key: ErrorKey; details?: readonly ErrorDetail[] };
}

export function errorEnvelope(key: ErrorKey, message: string, details?: readonly ErrorDetail[]): ErrorEnvelope {
  return { error: { code: errorStatus[key], message, key, ...(details ? { details } : {}) } };
}
