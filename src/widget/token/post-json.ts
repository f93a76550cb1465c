/**
 * One JSON POST with a time limit and bounded retries. Only a missing response or a 5xx is retried: requesting a
 * challenge or submitting a solution twice does no harm, and a refusal would be repeated.
 */
import { CaptchaError } from './captcha-error.ts';

/** Above the service's own time limits, below a visitor's patience. */
const TIMEOUT_MS = 10_000;
/** Two retries: one for a lost packet, one for a restart. */
const RETRY_DELAYS_MS = [400, 1600];

export async function postJson(url: string, body: unknown, signal: AbortSignal): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await postOnce(url, body, signal);
    } catch (error) {
      const delayMs = RETRY_DELAYS_MS[attempt];
      const isTransient = error instanceof CaptchaError && error.state === 'offline';
      if (!isTransient || delayMs === undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
    if (signal.aborted) throw new CaptchaError('cancelled');
  }
}

async function postOnce(url: string, body: unknown, signal: AbortSignal): Promise<unknown> {
  // Not AbortSignal.any: browsers of 2023 lack it.
  const abort = new AbortController();
  const cancel = (): void => abort.abort();
  const timer = setTimeout(cancel, TIMEOUT_MS);
  signal.addEventListener('abort', cancel);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: abort.signal,
    });
    const content: unknown = await response.json().catch(() => null);
    if (response.ok && content !== null) return content;
    throw refusal(response, content);
  } catch (error) {
    if (error instanceof CaptchaError) throw error;
    throw signal.aborted ? new CaptchaError('cancelled') : new CaptchaError('network', String(error));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}

function refusal(response: Response, content: unknown): CaptchaError {
  if (response.ok || response.status >= 500) return new CaptchaError('server', String(response.status));
  const error = (content as { error?: { key?: unknown } } | null)?.error;
  return new CaptchaError('refused', typeof error?.key === 'string' ? error.key : String(response.status));
}
