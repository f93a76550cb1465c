/**
 * Asks the edge for a session. It renews the one in the cookie, or returns a challenge: then the work is done off the
 * main thread, while the report of the browser is collected, and both are sent together.
 */
import type { EnvironmentReport } from '../../contract/edge/environment-report.ts';
import type { SessionChallenge } from '../../contract/edge/session-challenge.ts';
import type { PowRunner } from '../pow/pow-runner.ts';
import { sessionCookieValue } from '../session-cookie.ts';
import { CaptchaError } from '../token/captcha-error.ts';
import { postJson } from '../token/post-json.ts';

/** Longer than any browser works for a session. */
const EXCHANGE_MAX_MS = 60_000;

export interface ExchangePorts {
  url: string;
  /** Starts what solves the challenge. */
  prepare: (signal: AbortSignal) => PowRunner;
  /** A rejection ends the exchange: no session opens without a report. */
  collect: () => Promise<EnvironmentReport>;
  /** Counts one piece of work. `false`: this page has worked enough. */
  takeWork: () => boolean;
}

/** `false`: the solution was refused, so another challenge may succeed. Rejects when trying again is of no use now. */
export async function exchange({ url, prepare, collect, takeWork }: ExchangePorts): Promise<boolean> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), EXCHANGE_MAX_MS);
  try {
    const asked = postJson(url, { capabilities: { bigint: typeof BigInt === 'function' } }, stop.signal);
    const begin = () => {
      const report = collect();
      // It is handled where it is awaited, unless no report is needed.
      report.catch(() => undefined);
      return { runner: prepare(stop.signal), report };
    };
    // A visitor without a session will have to work: both begin while the challenge is on its way.
    let begun = sessionCookieValue() === null ? begin() : undefined;
    const { challenge, pow } = (await asked) as Partial<SessionChallenge>;
    if (challenge === undefined || pow === undefined) return true;
    if (!takeWork()) throw new CaptchaError('cancelled');
    begun ??= begin();
    const [solution, environment] = await Promise.all([begun.runner.solve(pow, () => undefined), begun.report]);
    try {
      await postJson(url, { challenge, solution, environment }, stop.signal);
      return true;
    } catch (error) {
      const { code, detail } = error as CaptchaError;
      if (code === 'refused' && detail !== 'API.RATE_LIMITED') return false;
      throw error;
    }
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}
