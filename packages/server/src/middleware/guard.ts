/** What the middleware of all frameworks shares: its options, and the response to a request that does not pass. */
import type { SignatureOptions, SignatureResult } from '../signature/check-signature.ts';
import type { VerifyResult } from '../verify/verify-result.ts';
import type { Verifier, VerifyOptions } from '../verify/create-verifier.ts';

/** Where a submission has its token. */
export interface FieldOptions {
  /** Form field or field of a JSON body. Default `captcha-response`. */
  field?: string;
  /** Header of clients that send no form. It counts first. Default `x-captcha-response`. */
  header?: string;
  /** How much of a body is read to find the field. Default 1 MiB. */
  maxBodyBytes?: number;
}

/** `Seen`: the framework's request or context. `Answer`: what its handlers return. */
export interface TokenOptions<Seen, Answer> extends FieldOptions {
  verifier: Verifier;
  /** What only a request can tell: `ip`, `userAccount`, the action of this form. */
  describe?: (seen: Seen) => VerifyOptions;
  /** Responds to a submission that does not pass, instead of the page for browsers and the JSON error for others. */
  onRefused?: (result: VerifyResult, seen: Seen) => Answer | Promise<Answer>;
}

export interface SignatureGuardOptions<Seen, Answer> extends SignatureOptions {
  /** Responds to a request that did not come through the gate, instead of the page for browsers and the JSON error for others. */
  onRefused?: (result: SignatureResult & { valid: false }, seen: Seen) => Answer | Promise<Answer>;
}

export interface Refusal {
  status: number;
  headers: Record<string, string>;
  body: { error: { code: number; key: string; message: string } };
}

/** A moment, so that visitors do not all come back at once. */
const RETRY_AFTER_SECONDS = 5;

/** The reason stays in the result, because it would tell a bot what to change. */
export function refusalOf(result: VerifyResult): Refusal {
  switch (result.outcome) {
    case 'missing':
      if (result.why === 'too-large') return refusal(413, 'API.BODY_TOO_LARGE', 'This form is too large.');
      return refusal(403, 'API.USER_NOT_VERIFIED', 'Complete the check and send the form again.');
    case 'refused':
    case 'verified':
      return refusal(
        403,
        'API.USER_NOT_VERIFIED',
        'The check has expired or failed. Complete it and send the form again.',
      );
    case 'unavailable': {
      const unavailable = refusal(
        503,
        'API.UNAVAILABLE',
        'The check does not respond. Send the form again in a moment.',
      );
      return { ...unavailable, headers: { ...unavailable.headers, 'retry-after': String(RETRY_AFTER_SECONDS) } };
    }
    case 'misconfigured':
      return refusal(500, 'API.UNKNOWN', 'This form is misconfigured. Tell the site’s operator.');
  }
}

export const SIGNATURE_REFUSAL = refusal(
  403,
  'API.FORBIDDEN',
  'This address is not open. Use the site’s public address.',
);

function refusal(code: number, key: string, message: string): Refusal {
  return { status: code, headers: { 'cache-control': 'no-store' }, body: { error: { code, key, message } } };
}

/** What is sent: a page where a browser shows it, as after its form, and JSON to a script. */
export function written({ status, headers, body }: Refusal, accept: unknown) {
  const isPage = typeof accept === 'string' && /\btext\/html\b/i.test(accept);
  const { message } = body.error;
  return {
    status,
    headers: {
      ...headers,
      vary: 'Accept',
      'content-type': isPage ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
    },
    // Every message is a constant of this file without a character that HTML reads as its own.
    text: isPage
      ? `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>${message}</title><h1>${message}</h1>`
      : JSON.stringify(body),
  };
}

/** For frameworks whose handlers return a `Response`. */
export function refusalResponse(refused: Refusal, { headers: asked }: Pick<Request, 'headers'>): Response {
  const { status, headers, text } = written(refused, asked.get('accept'));
  return new Response(text, { status, headers });
}
