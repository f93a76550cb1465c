/**
 * The one mapping of errors to responses. Every expected error has its key, message and status here; a new kind does
 * not compile until it is mapped. An unexpected error becomes 500 `API.UNKNOWN` without details: the log has them
 * under the request id.
 */
import { type ErrorDetail, errorEnvelope, type ErrorKey, errorStatus } from '../../contract/errors.ts';
import { jsonResponse } from './json-response.ts';
import type { ServiceError } from './service-error.ts';

interface Refusal {
  key: ErrorKey;
  message: string;
  details?: readonly ErrorDetail[] | undefined;
  headers?: Readonly<Record<string, string>>;
}

/** How long a caller of a service that is not configured waits before the next attempt. */
const NOT_CONFIGURED_RETRY_SECONDS = '60';

/** Errors with the envelope of the API. For a missing instance, the Protect operations respond `{"error": "<text>"}`. */
type EnvelopedError = Exclude<ServiceError, { kind: 'no-active-instance' }>;

export function errorResponse(error: ServiceError): Response {
  if (error.kind === 'no-active-instance') return jsonResponse({ error: 'No active protect instance found' }, 404);
  const { key, message, details, headers } = refusalOf(error);
  return jsonResponse(errorEnvelope(key, message, details), errorStatus[key], headers);
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
  return errorStatus[refusalOf(error).key];
}

export function keyOf(error: EnvelopedError): ErrorKey {
  return refusalOf(error).key;
}

function refusalOf(error: EnvelopedError): Refusal {
  switch (error.kind) {
    case 'body-too-large':
      return { key: 'API.BODY_TOO_LARGE', message: `The body is larger than ${error.maxBytes} bytes` };
    case 'body-incomplete':
      return { key: 'API.PARSE_ERROR', message: 'The body did not arrive completely; send it again' };
    case 'body-compressed':
      return { key: 'API.UNSUPPORTED_CONTENT_TYPE', message: 'Compressed bodies are not accepted' };
    case 'body-missing':
      return { key: 'API.MISSING_BODY', message: 'A body is required', details: error.details };
    case 'body-not-object':
      return invalidBody('The body must be an object', { path: '', message: 'must be an object' });
    case 'body-mismatch':
      return { key: 'API.INVALID_BODY', message: 'The body does not fit this endpoint', details: error.details };
    case 'content-type-missing':
      return {
        key: 'API.NO_CONTENT_TYPE_HEADER',
        message: 'A body needs the header Content-Type, such as application/json',
      };
    case 'content-type-unknown':
      return {
        key: 'API.UNSUPPORTED_CONTENT_TYPE',
        message: 'Content-Type must be application/json, application/x-www-form-urlencoded or multipart/form-data',
      };
    case 'content-type-of-form':
      return {
        key: 'API.NO_CONTENT_TYPE_HEADER',
        message:
          'The body is JSON and its Content-Type is that of a form. Send the header Content-Type: application/json',
      };
    case 'charset-unknown':
      return { key: 'API.UNSUPPORTED_CONTENT_TYPE', message: 'The charset of a body must be UTF-8' };
    case 'utf8-invalid':
      return { key: 'API.PARSE_ERROR', message: 'The body is not valid UTF-8' };
    case 'multipart-invalid':
      return { key: 'API.PARSE_ERROR', message: 'The body is not well-formed multipart/form-data' };
    case 'json-invalid':
      return { key: 'API.PARSE_ERROR', message: 'The body is not valid JSON' };
    case 'json-too-deep':
      return { key: 'API.PARSE_ERROR', message: `The body nests deeper than ${error.maxLevels} levels` };
    case 'field-name-reserved':
      return invalidBody('The body has a field with a reserved name', {
        path: error.path,
        message: 'is a reserved name',
      });
    case 'field-half-character':
      return invalidBody('The body has a text with half a character', {
        path: error.path,
        message: 'has a surrogate without its other half',
      });
    case 'form-field-unreadable':
      return invalidBody('The form has a field that cannot be read', error.detail);
    case 'too-many-fields':
      return { key: 'API.TOO_MANY_ITEMS', message: `The body may have at most ${error.maxFields} fields` };

    case 'authorization-missing':
      return {
        key: 'API.MISSING_AUTHORIZATION_HEADER',
        message: 'Send the header Authorization: Bearer <token>',
      };
    case 'authorization-malformed':
      return { key: 'API.UNAUTHORIZED', message: 'The Authorization header must be: Bearer <token>' };
    case 'api-key-malformed':
      return { key: 'API.UNAUTHORIZED', message: 'The bearer token is not an API key' };
    case 'api-key-bad-signature':
      return { key: 'API.UNAUTHORIZED', message: 'The signature of the API key is wrong' };
    case 'api-key-deleted':
      return { key: 'API.UNAUTHORIZED', message: 'The API key was deleted' };
    case 'api-key-expired':
      return { key: 'API.KEY_EXPIRED', message: 'The API key has expired' };
    case 'account-not-found':
      return { key: 'GENERAL.ACCOUNT_NOT_FOUND', message: 'The account does not exist' };
    case 'account-disabled':
      return { key: 'API.ACCOUNT_DISABLED', message: 'The account is disabled' };
    case 'feature-not-enabled':
      return {
        key: 'API.FEATURE_NOT_ENABLED',
        message: `The feature ${error.feature} is not enabled on this account`,
      };
    case 'permission-missing':
      return {
        key: 'API.INSUFFICIENT_PERMISSIONS',
        message: `${error.who} does not have the permission ${error.permissions.join(' or ')}`,
      };
    case 'payment-required':
      return {
        key: 'API.PAYMENT_REQUIRED',
        message: 'The account has no valid payment method and is read-only until it has one',
      };
    case 'client-jwt-expired':
      return { key: 'API.KEY_EXPIRED', message: 'The client JWT has expired' };
    case 'client-jwt-refused':
      return { key: 'API.UNAUTHORIZED', message: `The client JWT ${error.why}` };

    case 'console-needs-https':
      return { key: 'API.FORBIDDEN', message: 'The console needs https; set SERVICE_URL to an https address' };
    case 'not-from-console':
      return {
        key: 'CONSOLE.NOT_FROM_CONSOLE',
        message: `A call with a session must come from a page of ${error.origin}; programs use an API key`,
      };
    case 'signed-out':
      return { key: 'CONSOLE.SIGNED_OUT', message: 'The session has ended; sign in again' };
    case 'link-spent':
      return {
        key: 'CONSOLE.LINK_SPENT',
        message:
          'The link was used before or has expired. The operator makes a new one: npm run gatehouse -- signin --email ADDRESS',
      };
    case 'sign-in-late':
      return { key: 'CONSOLE.SIGN_IN_LATE', message: 'The sign-in took too long or was completed before; begin again' };
    case 'passkey-refused':
      return { key: 'CONSOLE.PASSKEY_REFUSED', message: `The passkey ${error.why}` };
    case 'passkey-known':
      return { key: 'CONSOLE.PASSKEY_REFUSED', message: 'This passkey is registered already' };
    case 'too-many-passkeys':
      return {
        key: 'API.TOO_MANY_ITEMS',
        message: `A person may have at most ${error.max} passkeys; remove one first`,
      };
    case 'last-passkey':
      return {
        key: 'CONSOLE.LAST_PASSKEY',
        message:
          'This is the last passkey. To remove it, sign in with a new one-time link: npm run gatehouse -- signin --email ADDRESS',
      };
    case 'sign-in-too-old':
      return {
        key: 'CONSOLE.SIGN_IN_AGAIN',
        message: 'Passkeys can be changed within 15 minutes after sign-in; sign in again',
      };
    case 'not-a-member':
      return {
        key: 'CONSOLE.NOT_A_MEMBER',
        message: 'No account has a team member with this address; an admin of the account can add one',
      };
    case 'not-yours':
      return { key: 'API.NOT_FOUND', message: `You have no such ${error.what}` };
    case 'provider-not-configured':
      return { key: 'API.NOT_FOUND', message: `Sign-in with ${error.provider} is not configured` };
    case 'provider-refused':
      return { key: 'CONSOLE.PROVIDER_REFUSED', message: `${error.provider} ${error.why}` };

    case 'rate-limited':
      return {
        key: 'API.RATE_LIMITED',
        message: `${error.what}; try again in ${error.retryAfterSeconds} seconds`,
        headers: { 'retry-after': String(error.retryAfterSeconds) },
      };

    case 'visitor-without-jwt':
      return { key: 'API.UNAUTHORIZED', message: 'The field visitor needs a client JWT' };
    case 'visitor-address-unknown':
      return { key: 'API.FORBIDDEN', message: 'The address of the visitor is unknown' };
    case 'site-not-registered':
      return { key: 'API.SITE_KEY_NOT_REGISTERED', message: 'No active site has this key' };
    case 'site-of-another-account':
      return { key: 'API.FORBIDDEN', message: 'The site belongs to another account than the edge' };
    case 'page-not-allowed':
      return { key: 'API.UNAUTHORIZED_ORIGIN_URL', message: 'This page is not among the domains of the site' };
    case 'access-policy-block':
      return { key: 'API.ACCESS_POLICY_BLOCK', message: `Forbidden: ${error.requestId}` };
    case 'script-needed':
      return { key: 'API.INCORRECT_CAPTCHA_TYPE', message: 'This site asks for a task that needs JavaScript' };
    case 'challenge-invalid':
      return { key: 'CAPTCHA.INVALID_CAPTCHA_CHALLENGE', message: 'This service did not issue the challenge' };
    case 'challenge-foreign':
      return { key: 'CAPTCHA.INVALID_CAPTCHA_CHALLENGE', message: 'The challenge was issued for another visitor' };
    case 'challenge-late':
      return { key: 'CAPTCHA.INVALID_CAPTCHA_CHALLENGE', message: 'The challenge has expired; ask for a new one' };
    case 'challenge-spent':
      return { key: 'CAPTCHA.INVALID_CAPTCHA_CHALLENGE', message: 'The challenge was used before; ask for a new one' };
    case 'solution-wrong':
      return { key: 'CAPTCHA.INVALID_SOLUTION', message: 'The solution is wrong; ask for a new challenge' };
    case 'site-secret-invalid':
      return { key: 'GENERAL.INVALID_SECRET_KEY', message: 'No active site has this secret' };
    case 'session-over':
      return { key: 'API.NO_SESSION', message: 'The session is over, or belongs to another visitor' };
    case 'report-implausible':
      return { key: 'API.INVALID_BODY', message: 'No page of this session can have made the report' };

    case 'not-configured':
      return {
        key: 'API.UNAVAILABLE',
        message: 'This service is not configured; its log names every mistake',
        headers: { 'retry-after': NOT_CONFIGURED_RETRY_SECONDS },
      };
    case 'path-unknown':
      return { key: 'API.NOT_FOUND', message: 'This path does not exist' };
    case 'method-not-allowed':
      return {
        key: 'API.METHOD_NOT_ALLOWED',
        message: `Use ${error.allowed.join(' or ')}`,
        headers: { allow: error.allowed.join(', ') },
      };
    case 'ruleset-unknown':
      return { key: 'API.NOT_FOUND', message: 'This instance has no such ruleset' };

    case 'operation':
      return error;
  }
}

function invalidBody(message: string, detail: ErrorDetail): Refusal {
  return { key: 'API.INVALID_BODY', message, details: [detail] };
}
