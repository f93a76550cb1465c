/**
 * Every reason for which the service refuses a request: one tagged union per domain. The steps of a domain return
 * these as the error of a `Result`; only `respond-error.ts` turns them into responses.
 */
import type { ErrorDetail, ErrorKey } from '../../contract/errors.ts';

/** The body of a request cannot be read, or does not match the schema of its route. */
export type BodyError =
  | { kind: 'body-too-large'; maxBytes: number }
  | { kind: 'body-incomplete' }
  | { kind: 'body-compressed' }
  | { kind: 'body-missing'; details: readonly ErrorDetail[] }
  | { kind: 'body-not-object' }
  | { kind: 'body-mismatch'; details: readonly ErrorDetail[] }
  | { kind: 'content-type-missing' }
  | { kind: 'content-type-unknown' }
  /** JSON under the Content-Type of a form, which `curl -d` sends by itself. */
  | { kind: 'content-type-of-form' }
  | { kind: 'charset-unknown' }
  | { kind: 'utf8-invalid' }
  | { kind: 'multipart-invalid' }
  | { kind: 'json-invalid' }
  | { kind: 'json-too-deep'; maxLevels: number }
  | { kind: 'field-name-reserved'; path: string }
  | { kind: 'field-half-character'; path: string }
  | { kind: 'form-field-unreadable'; detail: ErrorDetail }
  | { kind: 'too-many-fields'; maxFields: number };

/** The caller cannot prove who they are, or may not do what they ask. */
export type CredentialError =
  | { kind: 'authorization-missing' }
  | { kind: 'authorization-malformed' }
  | { kind: 'api-key-malformed' }
  | { kind: 'api-key-bad-signature' }
  | { kind: 'api-key-deleted' }
  | { kind: 'api-key-expired' }
  | { kind: 'account-not-found' }
  | { kind: 'account-disabled' }
  | { kind: 'feature-not-enabled'; feature: string }
  /** `who` starts the sentence: an API key, or a role. One of the permissions is enough. */
  | { kind: 'permission-missing'; who: string; permissions: readonly string[] }
  | { kind: 'payment-required' }
  | { kind: 'client-jwt-expired' }
  /** `why` completes the sentence "The client JWT …". */
  | { kind: 'client-jwt-refused'; why: string };

/** Sign-in of the console, or a call with its session, is refused. */
export type SignInError =
  /** A browser keeps no secure cookie for this address. */
  | { kind: 'console-needs-https' }
  /** Another site, or a program that sends the cookie, made the request. */
  | { kind: 'not-from-console'; origin: string }
  | { kind: 'signed-out' }
  | { kind: 'link-spent' }
  | { kind: 'sign-in-late' }
  /** `why` completes the sentence "The passkey …". */
  | { kind: 'passkey-refused'; why: string }
  | { kind: 'passkey-known' }
  | { kind: 'too-many-passkeys'; max: number }
  | { kind: 'last-passkey' }
  | { kind: 'sign-in-too-old' }
  | { kind: 'not-a-member' }
  /** `what` is the thing that the person does not have. */
  | { kind: 'not-yours'; what: string }
  | { kind: 'provider-not-configured'; provider: string }
  /** `why` completes the sentence that begins with the provider. */
  | { kind: 'provider-refused'; provider: string; why: string };

/** Too many calls within a window. */
export interface RateLimitError {
  kind: 'rate-limited';
  /** What was too many, as the start of the message. */
  what: string;
  retryAfterSeconds: number;
}

/** A challenge, a solution or a token cannot be handled. A token that does not verify is a result, not an error. */
export type CaptchaRefusal =
  | { kind: 'visitor-without-jwt' }
  | { kind: 'visitor-address-unknown' }
  | { kind: 'site-not-registered' }
  | { kind: 'site-of-another-account' }
  | { kind: 'page-not-allowed' }
  | { kind: 'access-policy-block'; requestId: string }
  | { kind: 'script-needed' }
  | { kind: 'challenge-invalid' }
  | { kind: 'challenge-foreign' }
  | { kind: 'challenge-late' }
  | { kind: 'challenge-spent' }
  | { kind: 'solution-wrong' }
  | { kind: 'site-secret-invalid' }
  | { kind: 'session-over' }
  | { kind: 'report-implausible' };

/** No route, or no content, for the request. */
type RouteError =
  | { kind: 'not-configured' }
  | { kind: 'path-unknown' }
  | { kind: 'method-not-allowed'; allowed: readonly string[] }
  | { kind: 'ruleset-unknown' };

/** A management operation refuses the call. */
export type OperationRefusal =
  /** With the key and the message that the operation chose. */
  | { kind: 'operation'; key: ErrorKey; message: string; details?: readonly ErrorDetail[] | undefined }
  | { kind: 'no-active-instance' };

/** What the public captcha routes refuse a request with. */
export type CaptchaRouteError = BodyError | CredentialError | RateLimitError | CaptchaRefusal;

export type ServiceError = CaptchaRouteError | SignInError | RouteError | OperationRefusal;
