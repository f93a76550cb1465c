/**
 * Which posts `/__protect/*` accepts: those of the site's own pages, and of clients that are no browser. A browser names
 * the page in `Sec-Fetch-Site` or `Origin`; a form on another site can forge neither.
 */
import { isJsonObject, JSON_DEPTH_MAX, jsonShape, parseJson } from '../../bytes/json.ts';
import { failed, ok, type Result } from '../../result.ts';
import { error, type Answer } from '../answer/answer.ts';
import type { NetworkCounts } from '../../address/networks.ts';
import { isSameOrigin, type RequestFacts } from '../request/facts.ts';
import { readBounded } from '../../bytes/read-bounded.ts';

/** Tokens and solutions are below 9 kB; telemetry is below 1 kB. */
const POST_MAX_BYTES = 16 * 1024;
/** The window of `postCounts`. */
const RETRY_AFTER_SECONDS = 60;
const TOO_LARGE = error('API.BODY_TOO_LARGE', `Send at most ${POST_MAX_BYTES} bytes.`);
const INCOMPLETE = error('API.PARSE_ERROR', 'The body did not arrive completely.');

/** `null`: the endpoint may run. `payer`: id of the session or clearance that the visitor earned. */
export function refusalOf(
  { request, target, signals, nowMs }: RequestFacts,
  counts: NetworkCounts,
  payer: string | null,
): Answer | null {
  if (request.method !== 'POST') return null;
  if (!isSameOrigin(request, target.host, true)) {
    return error('API.FORBIDDEN', 'Only pages of this site may call this address.');
  }
  if (Number(request.headers.get('content-length') ?? 0) > POST_MAX_BYTES) return TOO_LARGE;
  if (counts.take(signals.ip, nowMs, payer)) return null;
  const reason = 'Too many calls from this network. Wait a minute.';
  return { kind: 'error', key: 'API.RATE_LIMITED', reason, retryAfterSeconds: RETRY_AFTER_SECONDS };
}

const decoder = new TextDecoder();

/** The body as a JSON object of at most 16 KiB, or the answer that refuses it. */
export async function readJsonObject({ body }: Request): Promise<Result<Record<string, unknown>, Answer>> {
  if (!body) return failed(error('API.MISSING_BODY', 'Send a JSON body.'));
  const bytes = await readBounded(body, POST_MAX_BYTES);
  if (!bytes.ok) return failed(bytes.error.kind === 'too-large' ? TOO_LARGE : INCOMPLETE);
  const text = decoder.decode(bytes.value);
  // What is nested deeper can be read and not written again, so asking the service would fail as if it were away.
  const value = jsonShape(text).depth > JSON_DEPTH_MAX ? null : parseJson(text);
  return isJsonObject(value) ? ok(value) : failed(error('API.PARSE_ERROR', 'The body must be a JSON object.'));
}
