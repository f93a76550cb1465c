/**
 * The one mapping of errors to responses. Every expected error has its key, message and status here; a new kind does
 * not compile until it is mapped. An unexpected error becomes 500 `API.UNKNOWN` without details: the log has them
 * under the request id.
 */
import { type ErrorDetail, errorEnvelope, type ErrorKey, errorStatus } from '../../contract/errors.ts';
import { jsonResponse } from './json-response.ts';
import type { ServiceError } from './service-error.ts';

/** Key and message of an error, and what else its response has. */
type Refusal = readonly [
  key: ErrorKey,
  message: string,
  more?: { details?: readonly ErrorDetail[] | undefined; headers?: Readonly<Record<string, string>> },
];

/** How long a caller of a service that is not configured waits before the next attempt. */
const NOT_CONFIGURED_RETRY_SECONDS = '60';

/** Errors with the envelope of the API. For a missing instance, the Protect operations respond `{"error": "<text>"}`. */
type EnvelopedError = Exclude<ServiceError, { kind: 'no-active-instance' }>;

export function errorResponse(error: ServiceError): Response {
  if (error.kind === 'no-active-instance') return jsonResponse({ error: 'No active protect instance found' }, 404);
  const [key, message, more] = refusalOf(error);
  return jsonResponse(errorEnvelope(key, message, more?.details), errorStatus[key], more?.headers);
}

/** Logs an error that nobody expected, and responds with 500. */
export function unexpectedErrorResponse(error: unknown, requestId: string): Response {
  console.error(
    JSON.stringify({
      event: 'unhandled-error',
      requestId,
      name: error instanceof Error ? error.name : typeof error,
      message: error instanceof Error ? error.message : String(error),
      stack: error instanceof Error ? error.stack : undefined,
    }),
  );
  return jsonResponse(errorEnvelope('API.UNKNOWN', 'Something went wrong on our side'), errorStatus['API.UNKNOWN']);
}

export function statusOf(error: EnvelopedError): number {
  return errorStatus[errorKeyOf(error)];
}

export function errorKeyOf(error: EnvelopedError): ErrorKey {
  return refusalOf(error)[0];
}

/** The refusal of each kind of error, or the function that makes it from what the error has. */
const refusals: {
  readonly [Kind in EnvelopedError['kind']]: Refusal | ((error: Extract<EnvelopedError, { kind: Kind }>) => Refusal);
} = {
  'body-too-large': ({ maxBytes }) => ['API.BODY_TOO_LARGE', `The body is larger than ${maxBytes} bytes`],
  'body-incomplete': ['API.PARSE_ERROR', 'The body did not arrive completely; send it again'],
  'body-compressed': ['API.UNSUPPORTED_CONTENT_TYPE', 'Compressed bodies are not accepted'],
  'body-missing': ({ details }) => ['API.MISSING_BODY', 'A body is required', { details }],
  'body-not-object': [
    'API.INVALID_BODY',
    'The body must be an object',
    { details: [{ path: '', message: 'must be an object' }] },
  ],
  'body-mismatch': ({ details }) => ['API.INVALID_BODY', 'The body does not fit this endpoint', { details }],
  'content-type-missing': [
    'API.NO_CONTENT_TYPE_HEADER',
    'A body needs the header Content-Type, such as application/json',
  ],
  'content-type-unknown': [
    'API.UNSUPPORTED_CONTENT_TYPE',
    'Content-Type must be application/json, application/x-www-form-urlencoded or multipart/form-data',
  ],
  'content-type-of-form': [
    'API.NO_CONTENT_TYPE_HEADER',
    'The body is JSON and its Content-Type is that of a form. Send the header Content-Type: application/json',
  ],
  'charset-unknown': ['API.UNSUPPORTED_CONTENT_TYPE', 'The charset of a body must be UTF-8'],
  'utf8-invalid': ['API.PARSE_ERROR', 'The body is not valid UTF-8'],
  'multipart-invalid': ['API.PARSE_ERROR', 'The body is not well-formed multipart/form-data'],
  'json-invalid': ['API.PARSE_ERROR', 'The body is not valid JSON'],
  'json-too-deep': ({ maxLevels }) => ['API.PARSE_ERROR', `The body nests deeper than ${maxLevels} levels`],
  'field-name-reserved': ({ path }) => [
    'API.INVALID_BODY',
    'The body has a field with a reserved name',
    { details: [{ path, message: 'is a reserved name' }] },
  ],
  'field-half-character': ({ path }) => [
    'API.INVALID_BODY',
    'The body has a text with half a character',
    { details: [{ path, message: 'has a surrogate without its other half' }] },
  ],
  'form-field-unreadable': ({ detail }) => [
    'API.INVALID_BODY',
    'The form has a field that cannot be read',
    { details: [detail] },
  ],
  'too-many-fields': ({ maxFields }) => ['API.TOO_MANY_ITEMS', `The body may have at most ${maxFields} fields`],

  'authorization-missing': ['API.MISSING_AUTHORIZATION_HEADER', 'Send the header Authorization: Bearer <token>'],
  'authorization-malformed': ['API.UNAUTHORIZED', 'The Authorization header must be: Bearer <token>'],
  'api-key-malformed': ['API.UNAUTHORIZED', 'The bearer token is not an API key'],
  'api-key-bad-signature': ['API.UNAUTHORIZED', 'The signature of the API key is wrong'],
  'api-key-deleted': ['API.UNAUTHORIZED', 'The API key was deleted'],
  'api-key-expired': ['API.KEY_EXPIRED', 'The API key has expired'],
  'account-not-found': ['GENERAL.ACCOUNT_NOT_FOUND', 'The account does not exist'],
  'account-disabled': ['API.ACCOUNT_DISABLED', 'The account is disabled'],
  'feature-not-enabled': ({ feature }) => [
    'API.FEATURE_NOT_ENABLED',
    `The feature ${feature} is not enabled on this account`,
  ],
  'permission-missing': ({ who, permissions }) => [
    'API.INSUFFICIENT_PERMISSIONS',
    `${who} does not have the permission ${permissions.join(' or ')}`,
  ],
  'payment-required': [
    'API.PAYMENT_REQUIRED',
    'The account has no valid payment method and is read-only until it has one',
  ],
  'client-jwt-expired': ['API.KEY_EXPIRED', 'The client JWT has expired'],
  'client-jwt-refused': ({ why }) => ['API.UNAUTHORIZED', `The client JWT ${why}`],

  'console-needs-https': ['API.FORBIDDEN', 'The console needs https; set SERVICE_URL to an https address'],
  'not-from-console': ({ origin }) => [
    'CONSOLE.NOT_FROM_CONSOLE',
    `A call with a session must come from a page of ${origin}; programs use an API key`,
  ],
  'signed-out': ['CONSOLE.SIGNED_OUT', 'The session has ended; sign in again'],
  'link-spent': [
    'CONSOLE.LINK_SPENT',
    'The link was used before or has expired. The operator makes a new one: npm run gatehouse -- signin --email ADDRESS',
  ],
  'sign-in-late': ['CONSOLE.SIGN_IN_LATE', 'The sign-in took too long or was completed before; begin again'],
  'passkey-refused': ({ why }) => ['CONSOLE.PASSKEY_REFUSED', `The passkey ${why}`],
  'passkey-known': ['CONSOLE.PASSKEY_REFUSED', 'This passkey is registered already'],
  'too-many-passkeys': ({ max }) => [
    'API.TOO_MANY_ITEMS',
    `A person may have at most ${max} passkeys; remove one first`,
  ],
  'last-passkey': [
    'CONSOLE.LAST_PASSKEY',
    'This is the last passkey. To remove it, sign in with a new one-time link: npm run gatehouse -- signin --email ADDRESS',
  ],
  'sign-in-too-old': [
    'CONSOLE.SIGN_IN_AGAIN',
    'Passkeys can be changed within 15 minutes after sign-in; sign in again',
  ],
  'not-a-member': [
    'CONSOLE.NOT_A_MEMBER',
    'No account has a team member with this address; an admin of the account can add one',
  ],
  'not-yours': ({ what }) => ['API.NOT_FOUND', `You have no such ${what}`],
  'provider-not-configured': ({ provider }) => ['API.NOT_FOUND', `Sign-in with ${provider} is not configured`],
  'provider-refused': ({ provider, why }) => ['CONSOLE.PROVIDER_REFUSED', `${provider} ${why}`],

  'rate-limited': ({ what, retryAfterSeconds }) => [
    'API.RATE_LIMITED',
    `${what}; try again in ${retryAfterSeconds} seconds`,
    { headers: { 'retry-after': String(retryAfterSeconds) } },
  ],

  'visitor-without-jwt': ['API.UNAUTHORIZED', 'The field visitor needs a client JWT'],
  'visitor-address-unknown': ['API.FORBIDDEN', 'The address of the visitor is unknown'],
  'site-not-registered': ['API.SITE_KEY_NOT_REGISTERED', 'No active site has this key'],
  'site-of-another-account': ['API.FORBIDDEN', 'The site belongs to another account than the edge'],
  'page-not-allowed': ['API.UNAUTHORIZED_ORIGIN_URL', 'This page is not among the domains of the site'],
  'access-policy-block': ({ requestId }) => ['API.ACCESS_POLICY_BLOCK', `Forbidden: ${requestId}`],
  'script-needed': ['API.INCORRECT_CAPTCHA_TYPE', 'This site asks for a task that needs JavaScript'],
  'challenge-invalid': ['CAPTCHA.INVALID_CAPTCHA_CHALLENGE', 'This service did not issue the challenge'],
  'challenge-foreign': ['CAPTCHA.INVALID_CAPTCHA_CHALLENGE', 'The challenge was issued for another visitor'],
  'challenge-late': ['CAPTCHA.INVALID_CAPTCHA_CHALLENGE', 'The challenge has expired; ask for a new one'],
  'challenge-spent': ['CAPTCHA.INVALID_CAPTCHA_CHALLENGE', 'The challenge was used before; ask for a new one'],
  'solution-wrong': ['CAPTCHA.INVALID_SOLUTION', 'The solution is wrong; ask for a new challenge'],
  'site-secret-invalid': ['GENERAL.INVALID_SECRET_KEY', 'No active site has this secret'],
  'session-over': ['API.NO_SESSION', 'The session is over, or belongs to another visitor'],
  'report-implausible': ['API.INVALID_BODY', 'No page of this session can have made the report'],

  'not-configured': [
    'API.UNAVAILABLE',
    'This service is not configured; its log names every mistake',
    { headers: { 'retry-after': NOT_CONFIGURED_RETRY_SECONDS } },
  ],
  'path-unknown': ['API.NOT_FOUND', 'This path does not exist'],
  'method-not-allowed': ({ allowed }) => [
    'API.METHOD_NOT_ALLOWED',
    `Use ${allowed.join(' or ')}`,
    { headers: { allow: allowed.join(', ') } },
  ],
  'ruleset-unknown': ['API.NOT_FOUND', 'This instance has no such ruleset'],

  operation: ({ key, message, details }) => [key, message, { details }],
};

function refusalOf(error: EnvelopedError): Refusal {
  // The table has each function under the kind of error that it takes, which the compiler has checked there.
  const refusal = refusals[error.kind] as Refusal | ((error: EnvelopedError) => Refusal);
  return typeof refusal === 'function' ? refusal(error) : refusal;
}
