/**
 * Calls of an identity provider. Whatever answers at its address must not hold or fill an isolate, nor send the client's
 * secret elsewhere: an answer has a limit in bytes and in time, and a redirect is no answer.
 */
import { readBounded } from '../../../bytes/read-bounded.ts';

/** A discovery document has 5 KB, a set of keys about as much. */
const ANSWER_MAX_BYTES = 256 * 1024;
/** A provider that takes longer is down. */
const ANSWER_TIMEOUT_MS = 10_000;

/** The message completes the sentence "It …", and has nothing of the answer. */
class ProviderError extends Error {}

/** What both libraries give to a `fetch`. */
interface Asked {
  method: string;
  headers: HeadersInit;
  body?: BodyInit | null | undefined;
}

/** `fetch` for the libraries. The body of the response is whole. */
export async function providerFetch(url: string, init: Asked): Promise<Response> {
  const deadlineMs = Date.now() + ANSWER_TIMEOUT_MS;
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  const { method, headers, body: sent = null } = init;
  const response = await fetch(url, { method, headers, body: sent, redirect: 'manual', signal }).catch(() => {
    throw new ProviderError(signal.aborted ? tooLate : 'cannot be reached');
  });
  const { status } = response;
  if (status >= 300 && status < 400) {
    await response.body?.cancel();
    throw new ProviderError('redirects to another address');
  }
  const timeoutMs = Math.max(deadlineMs - Date.now(), 1);
  const body = response.body && (await readBounded(response.body, ANSWER_MAX_BYTES, { timeoutMs }));
  if (body?.ok === false) {
    throw new ProviderError(body.error.kind === 'too-large' ? `sent more than ${ANSWER_MAX_BYTES} bytes` : tooLate);
  }
  const contentType = response.headers.get('content-type');
  return new Response(body?.value ?? null, {
    status,
    headers: contentType === null ? {} : { 'content-type': contentType },
  });
}

const tooLate = `did not answer in full within ${ANSWER_TIMEOUT_MS / 1000} seconds`;

/** What went wrong. Of an error of a library only its kind, never its content: that has tokens. */
export function whyOf(error: unknown): string {
  if (error instanceof ProviderError) return `it ${error.message}`;
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return typeof code === 'string' ? code : 'its answer cannot be read';
}
