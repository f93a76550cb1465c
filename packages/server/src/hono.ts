/** Middleware for Hono. Handlers find the result in `c.get('gatehouse')`, and the body as it was sent. */
import type { Context, MiddlewareHandler } from 'hono';
import { ownField } from './http/own-field.ts';
import {
  refusalOf,
  refusalResponse,
  SIGNATURE_REFUSAL,
  type SignatureGuardOptions,
  type TokenOptions,
} from './middleware/guard.ts';
import { fieldNames, isForm, type SubmittedField, submittedField } from './middleware/submitted-field.ts';
import { verifyField } from './middleware/verify-field.ts';
import { checkSignature, type SignatureResult } from './signature/check-signature.ts';
import type { VerifyResult } from './verify/verify-result.ts';

/** Lets a submission through whose token verifies. */
export function requireToken(
  options: TokenOptions<Context, Response>,
): MiddlewareHandler<{ Variables: { gatehouse: VerifyResult } }> {
  return async function requireTokenOfRequest(c, next) {
    const submitted = c.req.raw.bodyUsed ? await parsedField(c, options) : await submittedField(c.req.raw, options);
    const result = await verifyField(options.verifier, submitted, options.describe?.(c));
    if (!result.pass) return options.onRefused?.(result, c) ?? refusalResponse(refusalOf(result), c.req.raw);
    c.set('gatehouse', result);
    await next();
  };
}

/** A middleware before this one read the body, which Hono then keeps. */
async function parsedField(c: Context, options: TokenOptions<Context, Response>): Promise<SubmittedField> {
  const { field, header } = fieldNames(options);
  const sent = c.req.header(header);
  if (sent !== undefined) return { value: sent };
  const contentType = c.req.header('content-type') ?? '';
  if (!isForm(contentType)) return { value: undefined };
  try {
    const isJson = /json/i.test(contentType.split(';', 1)[0] ?? '');
    return { value: ownField(isJson ? await c.req.json() : await c.req.parseBody({ all: true }), field) };
  } catch {
    return { why: 'unparsed' };
  }
}

/** Lets a request through that the gate signed. */
export function requireSignature(
  options: SignatureGuardOptions<Context, Response>,
): MiddlewareHandler<{ Variables: { gatehouseSignature: SignatureResult } }> {
  return async function requireSignatureOfRequest(c, next) {
    const result = await checkSignature(c.req.raw, options);
    if (!result.valid) return options.onRefused?.(result, c) ?? refusalResponse(SIGNATURE_REFUSAL, c.req.raw);
    c.set('gatehouseSignature', result);
    await next();
  };
}
