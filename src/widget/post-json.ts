/**
 * One JSON POST with a deadline and bounded retries. Only an answer that never came or a 5xx is
 * tried again: a challenge or a solution asked for twice costs nothing, a refusal stays a refusal.
 */
import { CaptchaError } from './captcha-error.ts';

/** Above the service's own time limits, below a visitor's patience. */
const TIMEOUT_MS = 10_000;
/** Two more tries: one for a lost packet, one for a restart. */
const RETRY_DELAYS_MS = [400, 1600];

export async function postJson(url: string, body: unknown, signal: AbortSignal): Promise<unknown> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await once(url, body, signal);
    } catch (error) {
      const delayMs = RETRY_DELAYS_MS[attempt];
      const again = error instanceof CaptchaError && (error.code === 'network' || error.code === 'server');
      if (!again || delayMs === undefined) throw error;
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
    if (signal.aborted) throw new CaptchaError('cancelled');
  }
}

async function once(url: string, body: unknown, signal: AbortSignal): Promise<unknown> {
  // Not AbortSignal.any: browsers of 2023 lack it, and they are the slow phones we care about.
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
    const answer: unknown = await response.json().catch(() => null);
    if (response.ok && answer !== null) return answer;
    throw refusal(response, answer);
  } catch (error) {
    if (error instanceof CaptchaError) throw error;
    throw signal.aborted ? new CaptchaError('cancelled') : new CaptchaError('network', String(error));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', cancel);
  }
}

function refusal(response: Response, answer: unknown): CaptchaError {
  if (response.ok || response.status >= 500) return new CaptchaError('server', String(response.status));
  const error = (answer as { error?: { key?: unknown } } | null)?.error;
  return new CaptchaError('refused', typeof error?.key === 'string' ? error.key : String(response.status));
}
