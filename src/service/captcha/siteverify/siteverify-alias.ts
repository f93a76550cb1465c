/**
 * `/turnstile/v0/siteverify`, `/hcaptcha/siteverify` and `/recaptcha/api/siteverify`: `{secret, response, remoteip?,
 * idempotency_key?}` as JSON or as a form, verified like `/siteverify`. Unknown fields are ignored, as these services
 * do. reCAPTCHA also reads the parameters of the address, with GET and with POST, and so many of its clients send them
 * there. Nothing here logs an address, and the wrangler files keep query strings out of Workers Logs.
 */
import {
  aliasRequest,
  type AliasResponse,
  type SiteverifyResponse,
  type VerifyReason,
  verifyReasons,
} from '../../../contract/captcha/siteverify.ts';
import {
  aliasFault,
  aliasRefused,
  aliasSuccess,
  aliasText,
  aliasVerified,
  recaptchaScore,
  type AliasDialect,
  type AliasFault,
} from '../../../verify/alias-responses.ts';
import { formObject } from '../../http/body/form-object.ts';
import { readBody } from '../../http/body/read-body.ts';
import { jsonTextResponse } from '../../http/json-response.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import type { CaptchaRouteError } from '../../http/service-error.ts';
import { VERIFY_LIMITS, type Verification, verify } from './siteverify.ts';

/** Never fails: these services respond 200 to every mistake, and name it in the body. */
export async function siteverifyAlias(dialect: AliasDialect, call: ServiceCall): Promise<Response> {
  return jsonTextResponse(aliasText(dialect, await answerOrFault(dialect, call)));
}

async function answerOrFault(dialect: AliasDialect, call: ServiceCall): Promise<AliasResponse> {
  try {
    return await aliasAnswer(dialect, call);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    console.error(JSON.stringify({ event: 'siteverify-alias-failed', requestId: call.requestId, message }));
    return aliasFault('internal-error');
  }
}

async function aliasAnswer(dialect: AliasDialect, call: ServiceCall): Promise<AliasResponse> {
  const body = await readBody(call.request, VERIFY_LIMITS);
  if (!body.ok) return aliasFault('bad-request');
  const fields = body.value.kind === 'empty' ? addressFields(dialect, call.request) : body.value.value;
  const read = aliasRequest.safeParse(fields);
  if (!read.success) return aliasFault('bad-request');
  const { secret, response, remoteip, sitekey, idempotency_key: idempotencyKey } = read.data;
  if (secret === '') return aliasFault('missing-input-secret');
  if (response === '') return aliasFault('missing-input-response');
  const verification = await verify(
    call,
    {
      secret,
      token: response,
      ip: remoteip,
      ...(idempotencyKey == null ? {} : { idempotencyKey }),
    },
    null,
    dialect === 'hcaptcha' ? (sitekey ?? undefined) : undefined,
  );
  return verification.ok ? shaped(dialect, verification.value, call.nowMs) : aliasFault(faultOf(verification.error));
}

/** A body wins, so that nobody who can add to an address can change what a backend sends. */
function addressFields(dialect: AliasDialect, { method, url }: Request): unknown {
  if (dialect !== 'recaptcha' || method === 'HEAD') return {};
  const fields = formObject(new URL(url).searchParams);
  return fields.ok ? fields.value : null;
}

function shaped(dialect: AliasDialect, { judgement, answer }: Verification, nowMs: number): AliasResponse {
  if (judgement === null) return testShaped(dialect, answer, nowMs);
  const { token } = judgement;
  if (!answer.verified) return aliasRefused(dialect, judgement.reason ?? reasonOf(answer.reason));
  return token === null
    ? aliasRefused(dialect, 'CAPTCHA.INVALID_TOKEN')
    : aliasVerified(dialect, token, answer.score ?? null);
}

/** A test secret: there is no solved challenge, and so no action. The time is for clients that compare it. */
function testShaped(dialect: AliasDialect, answer: SiteverifyResponse, nowMs: number): AliasResponse {
  if (!answer.verified) return { ...aliasRefused(dialect, reasonOf(answer.reason)), test: true };
  return {
    ...aliasSuccess(dialect, nowMs),
    hostname: answer.hostname ?? 'localhost',
    ...(dialect === 'recaptcha' ? { score: recaptchaScore(answer.score ?? null, 0) } : {}),
    test: true,
  };
}

function reasonOf(text: string | undefined): VerifyReason {
  return text !== undefined && Object.hasOwn(verifyReasons, text) ? (text as VerifyReason) : 'API.USER_NOT_VERIFIED';
}

function faultOf({ kind }: CaptchaRouteError): AliasFault {
  return kind === 'site-secret-invalid' || kind === 'account-disabled' ? 'invalid-input-secret' : 'bad-request';
}
