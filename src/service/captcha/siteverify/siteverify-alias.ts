/**
 * `/turnstile/v0/siteverify`, `/hcaptcha/siteverify`, `/recaptcha/api/siteverify`: `{secret, response,
 * remoteip?, idempotency_key?}` as JSON or form, through the same judgement as `/siteverify`. Members
 * we do not know are ignored, as theirs do.
 */
import * as z from 'zod/mini';
import { verifyReasons } from '../../../contract/captcha/siteverify.ts';
import type { SiteverifyAnswer, VerifyReason } from '../../../contract/captcha/siteverify.ts';
import { canonicalIp } from '../../../address/ip.ts';
import { aliasFault, aliasRefused, aliasVerified } from '../../../verify/alias-responses.ts';
import type { AliasAnswer, AliasDialect, AliasFault } from '../../../verify/alias-responses.ts';
import { readBody } from '../../http/body/read-body.ts';
import { ApiError } from '../../http/api-error.ts';
import type { ServiceCall } from '../../http/service-call.ts';
import { verify } from './siteverify.ts';
import type { Verification } from './siteverify.ts';

const aliasRequest = z.object({
  secret: z._default(z.string().check(z.maxLength(256)), ''),
  response: z._default(z.string(), ''),
  /** hCaptcha's: the site that the token must be of. */
  sitekey: z.optional(z.string().check(z.maxLength(256))),
  remoteip: z.optional(z.string().check(z.maxLength(64))),
  idempotency_key: z.optional(z.string().check(z.minLength(1), z.maxLength(128))),
});

export async function siteverifyAlias(dialect: AliasDialect, call: ServiceCall): Promise<AliasAnswer> {
  try {
    return await aliasAnswer(dialect, call);
  } catch (error) {
    const fault = faultOf(error);
    if (fault === 'internal-error') {
      const message = error instanceof Error ? error.message : String(error);
      console.error(JSON.stringify({ event: 'siteverify-alias-failed', requestId: call.requestId, message }));
    }
    return aliasFault(fault);
  }
}

async function aliasAnswer(dialect: AliasDialect, call: ServiceCall): Promise<AliasAnswer> {
  const body = await readBody(call.request);
  const read = aliasRequest.safeParse(body.kind === 'empty' ? {} : body.value);
  if (!read.success) return aliasFault('bad-request');
  const { secret, response, remoteip, sitekey, idempotency_key: idempotencyKey } = read.data;
  if (secret === '') return aliasFault('missing-input-secret');
  if (response === '') return aliasFault('missing-input-response');
  // Their services do not check the address strictly; a proxy's "unknown" must not fail a form.
  const ip = remoteip !== undefined && canonicalIp(remoteip.trim()) !== null ? remoteip : undefined;
  return shaped(
    dialect,
    await verify(
      call,
      {
        secret,
        token: response,
        ...(ip === undefined ? {} : { ip }),
        ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
      },
      dialect === 'hcaptcha' ? sitekey : undefined,
    ),
  );
}

function shaped(dialect: AliasDialect, { judgement, answer }: Verification): AliasAnswer {
  if (judgement === null) return testShaped(dialect, answer);
  const { token } = judgement;
  if (!answer.verified) return aliasRefused(dialect, judgement.reason ?? reasonOf(answer.reason));
  return token === null
    ? aliasRefused(dialect, 'CAPTCHA.INVALID_TOKEN')
    : aliasVerified(dialect, token, answer.score ?? null);
}

/** A test secret: nobody solved anything, so there is nothing to tell but that. */
function testShaped(dialect: AliasDialect, answer: SiteverifyAnswer): AliasAnswer {
  if (!answer.verified) return { ...aliasRefused(dialect, reasonOf(answer.reason)), test: true };
  return { success: true, 'error-codes': [], hostname: answer.hostname ?? 'localhost', test: true };
}

function reasonOf(text: string | undefined): VerifyReason {
  return text !== undefined && Object.hasOwn(verifyReasons, text) ? (text as VerifyReason) : 'API.USER_NOT_VERIFIED';
}

function faultOf(error: unknown): AliasFault {
  if (!(error instanceof ApiError)) return 'internal-error';
  return error.key === 'GENERAL.INVALID_SECRET_KEY' || error.key === 'API.ACCOUNT_DISABLED'
    ? 'invalid-input-secret'
    : 'bad-request';
}
