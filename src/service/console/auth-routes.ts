/**
 * `/console/auth/*`: sign-in of the console. Each route names what it needs: nothing, or somebody who is signed in. Every
 * call must come from a page of the console, also a sign-in itself: otherwise another site could sign a visitor in as
 * somebody else. The one exception is the way back from an OpenID Connect issuer, which is bound to the browser by a cookie.
 */
import { Hono } from 'hono';
import type * as core from 'zod/v4/core';
import { signInBodies, type SignInWays } from '../../contract/console/sign-in.ts';
import { failed, ok, type Result } from '../../result.ts';
import { readBodyAs } from '../http/body/read-body.ts';
import { clientAddress } from '../http/client-address.ts';
import { jsonResponse } from '../http/json-response.ts';
import { RateLimit } from '../http/rate-limit.ts';
import { errorResponse } from '../http/respond-error.ts';
import type { RateLimitError } from '../http/service-error.ts';
import { isFromConsole } from '../http/same-origin.ts';
import { type ServiceApp, type ServiceCall, serviceCall, type ServiceHonoEnv } from '../http/service-call.ts';
import { accessSignIn } from './sign-in/cloudflare-access.ts';
import type { ConsoleCall, ConsoleError, ConsoleResult, SignedInCall } from './sign-in/console-call.ts';
import {
  currentUser,
  listConsoleSessions,
  me,
  revokeSession,
  signOut,
  signOutEverywhere,
} from './sign-in/current-user.ts';
import { chooseAccount, exchangeLink } from './sign-in/complete-sign-in.ts';
import { oidcCallback, oidcFinish, oidcStart } from './sign-in/oidc.ts';
import {
  enrolOptions,
  enrolPasskey,
  listPasskeys,
  passkeyOptions,
  passkeySignIn,
  remove,
  rename,
} from './sign-in/passkeys.ts';

/** Attempts to sign in, per minute and network, in one isolate. Tokens have 256 bits; this keeps guessing cheap for us. */
const ATTEMPTS_PER_MINUTE_MAX = 60;
const attempts = new RateLimit(ATTEMPTS_PER_MINUTE_MAX, 'Too many attempts to sign in from this network');
const BODY_MAX_BYTES = 128 * 1024;
const OF_DISABLED_ACCOUNTS = new Set(['/me', '/sessions', '/sessions/revoke', '/sign-out', '/sign-out-everywhere']);

export function consoleAuthRoutes(): ServiceApp {
  const routes = new Hono<ServiceHonoEnv>();

  /** Anybody may call; each call counts as an attempt. */
  const open = <Body extends core.$ZodType>(
    path: string,
    schema: Body,
    handler: (call: ConsoleCall, body: core.output<Body>) => Promise<ConsoleResult>,
  ): void => {
    routes.post(`/console/auth${path}`, (context) =>
      respond(serviceCall(context), async (call) => {
        const limited = tooManyAttempts(call);
        if (limited !== null) return failed(limited);
        const body = await readBodyAs(schema, call.request, BODY_MAX_BYTES);
        return body.ok ? handler(call, body.value) : body;
      }),
    );
  };
  /** Somebody who is signed in. In a disabled account they can see and end their sessions, and go to another account. */
  const own = <Body extends core.$ZodType>(
    method: 'GET' | 'POST',
    path: string,
    schema: Body,
    handler: (call: SignedInCall, body: core.output<Body>) => Promise<ConsoleResult>,
  ): void => {
    routes.on(method, `/console/auth${path}`, (context) =>
      respond(serviceCall(context), async (call) => {
        const user = await currentUser(call);
        if (!user.ok) return user;
        if (user.value.account.disabled && !OF_DISABLED_ACCOUNTS.has(path)) {
          return failed<ConsoleError>({ kind: 'account-disabled' });
        }
        const read =
          method === 'GET' ? ok({} as core.output<Body>) : await readBodyAs(schema, call.request, BODY_MAX_BYTES);
        return read.ok ? handler({ ...call, user: user.value }, read.value) : read;
      }),
    );
  };
  const { nothing } = signInBodies;

  routes.get('/console/auth/ways', (context) =>
    respond(serviceCall(context), async ({ signIn: { oidc, access } }) =>
      ok({ oidc: oidc !== null, access: access !== null } satisfies SignInWays),
    ),
  );
  open('/link', signInBodies.link, exchangeLink);
  open('/choose', signInBodies.choose, chooseAccount);
  open('/passkey/options', nothing, passkeyOptions);
  open('/passkey/verify', signInBodies.assertion, passkeySignIn);
  open('/access', signInBodies.provider, accessSignIn);
  open('/oidc/start', nothing, oidcStart);
  open('/oidc/finish', signInBodies.provider, oidcFinish);
  routes.get('/console/auth/oidc/callback', (context) => {
    const call = serviceCall(context);
    const place = call.signIn.console;
    if (place === null) return errorResponse({ kind: 'console-needs-https' });
    const limited = tooManyAttempts(call);
    return limited === null ? oidcCallback({ ...call, place }) : errorResponse(limited);
  });

  own('GET', '/me', nothing, me);
  own('GET', '/sessions', nothing, listConsoleSessions);
  own('POST', '/sessions/revoke', signInBodies.revoke, revokeSession);
  own('POST', '/sign-out', nothing, signOut);
  own('POST', '/sign-out-everywhere', nothing, signOutEverywhere);
  own('GET', '/passkeys', nothing, listPasskeys);
  own('POST', '/passkeys/options', nothing, enrolOptions);
  own('POST', '/passkeys/enrol', signInBodies.enrol, enrolPasskey);
  own('POST', '/passkeys/rename', signInBodies.rename, rename);
  own('POST', '/passkeys/remove', signInBodies.removePasskey, remove);
  return routes;
}

function tooManyAttempts({ signals, request, nowMs }: ServiceCall): RateLimitError | null {
  return attempts.takeIn('sign-in', clientAddress(signals, request), nowMs);
}

async function respond(call: ServiceCall, handler: (call: ConsoleCall) => Promise<ConsoleResult>): Promise<Response> {
  const checked = fromConsole(call);
  const result = checked.ok ? await handler(checked.value) : checked;
  if (!result.ok) return errorResponse(result.error);
  return result.value instanceof Response ? result.value : jsonResponse(result.value);
}

function fromConsole(call: ServiceCall): Result<ConsoleCall, ConsoleError> {
  const place = call.signIn.console;
  if (place === null) return failed({ kind: 'console-needs-https' });
  if (!isFromConsole(call.request, place)) return failed({ kind: 'not-from-console', origin: place.origin });
  return ok({ ...call, place });
}
