/**
 * The refusals that handlers throw on purpose. `respond-error.ts` turns each into a response; any other error is a
 * fault of the service.
 */
import type { ErrorDetail, ErrorKey } from '../../contract/errors.ts';

/** A refusal with a stable key. */
export class ApiError extends Error {
  readonly key: ErrorKey;
  readonly details: readonly ErrorDetail[] | undefined;
  /** Headers of the response, such as `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    key: ErrorKey,
    message: string,
    details?: readonly ErrorDetail[],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.name = 'ApiError';
    this.key = key;
    this.details = details;
    this.headers = headers;
  }
}

/** The 404 of the Protect operations. Its body is `{"error": "<message>"}`, without the envelope of other errors. */
export class NoActiveInstanceError extends Error {
  constructor() {
    super('No active protect instance found');
    this.name = 'NoActiveInstanceError';
  }
}
