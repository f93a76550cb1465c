/**
 * Wrappers for Next's route handlers, and for anything else that takes a `Request` and returns a `Response`: SvelteKit,
 * Remix, Astro, Deno, Bun, a Worker. The handler reads the body as if nothing had read it before.
 */
import {
  refusalOf,
  refusalResponse,
  SIGNATURE_REFUSAL,
  type SignatureGuardOptions,
  type TokenOptions,
} from './middleware/guard.ts';
import { submittedField } from './middleware/submitted-field.ts';
import { verifyField } from './middleware/verify-field.ts';
import { checkSignature, type SignatureResult } from './signature/check-signature.ts';
import type { VerifyResult } from './verify/verify-result.ts';

/** Runs `handler` for a submission whose token verifies. It gets the result behind Next's own arguments. */
export function withToken<Asked extends Request, Context>(
  options: TokenOptions<Asked, Response>,
  handler: (request: Asked, context: Context, result: VerifyResult) => Response | Promise<Response>,
): (request: Asked, context: Context) => Promise<Response> {
  return async function withTokenOfRequest(request, context) {
    const submitted = await submittedField(request, options);
    const result = await verifyField(options.verifier, submitted, options.describe?.(request));
    if (!result.pass) return options.onRefused?.(result, request) ?? refusalResponse(refusalOf(result), request);
    return handler(request, context, result);
  };
}

/** Runs `handler` for a request that the gate signed. */
export function withSignature<Asked extends Request, Context>(
  options: SignatureGuardOptions<Asked, Response>,
  handler: (
    request: Asked,
    context: Context,
    result: SignatureResult & { valid: true },
  ) => Response | Promise<Response>,
): (request: Asked, context: Context) => Promise<Response> {
  return async function withSignatureOfRequest(request, context) {
    const result = await checkSignature(request, options);
    if (!result.valid) return options.onRefused?.(result, request) ?? refusalResponse(SIGNATURE_REFUSAL, request);
    return handler(request, context, result);
  };
}
