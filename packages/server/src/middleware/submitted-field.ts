/**
 * Finds the token in a `Request` without taking its body from the handler: a header is read first, then a copy of the
 * body, up to a limit.
 */
import { ownField } from '../http/own-field.ts';
import { readBytes } from '../http/read-bounded.ts';
import type { Missing } from '../verify/verify-result.ts';
import type { FieldOptions } from './guard.ts';

/** Found, as the verifier reads it, or why not. */
export type SubmittedField = { value: unknown } | { why: Missing['why'] };

const BODY_MAX_BYTES = 1024 * 1024;

export async function submittedField(request: Request, options: FieldOptions): Promise<SubmittedField> {
  const { field, header } = fieldNames(options);
  const sent = request.headers.get(header);
  if (sent !== null) return { value: sent };
  if (request.bodyUsed) return { why: 'unparsed' };
  if (request.body === null) return { value: undefined };
  const contentType = request.headers.get('content-type') ?? '';
  if (!isForm(contentType)) return { value: undefined };
  // Both branches of a clone keep what the other has read, so no more than the limit is read here.
  const bytes = await readBytes(request.clone().body, options.maxBodyBytes ?? BODY_MAX_BYTES).catch(() => undefined);
  if (bytes === null) return { why: 'too-large' };
  return bytes === undefined ? { why: 'malformed' } : { value: await fieldIn(bytes, contentType, field) };
}

export function fieldNames({ field = 'captcha-response', header = 'x-captcha-response' }: FieldOptions): {
  field: string;
  header: string;
} {
  return { field, header: header.toLowerCase() };
}

const FORM_TYPE =
  /^\s*(?:application\/x-www-form-urlencoded|multipart\/form-data|application\/(?:[\w.+-]+\+)?json)\s*(?:;|$)/i;

export function isForm(contentType: string): boolean {
  return FORM_TYPE.test(contentType);
}

async function fieldIn(bytes: Uint8Array<ArrayBuffer>, contentType: string, field: string): Promise<unknown> {
  try {
    const body = new Response(bytes, { headers: { 'content-type': contentType } });
    if (/json/i.test(contentType.split(';', 1)[0] ?? '')) return ownField(await body.json(), field);
    return (await body.formData()).getAll(field);
  } catch {
    // A body that does not parse has no token.
    return undefined;
  }
}
