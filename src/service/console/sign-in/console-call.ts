/** What a handler of `/console/auth/*` gets: the request, and the place of the console, which is known to be secure. */
import type { Result } from '../../../result.ts';
import type { SignedInUser } from '../../../store/d1/console-sessions.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import type { BodyError, CredentialError, RateLimitError, SignInError } from '../../http/service-error.ts';
import type { ConsolePlace } from '../../sign-in-variables.ts';

export interface ConsoleCall extends ServiceCall {
  place: ConsolePlace;
}

/** The caller is signed in. */
export interface SignedInCall extends ConsoleCall {
  user: SignedInUser;
}

export type ConsoleError = BodyError | CredentialError | RateLimitError | SignInError;

/** A response, or an object that becomes a JSON response. */
export type ConsoleResult = Result<Response | object, ConsoleError>;
