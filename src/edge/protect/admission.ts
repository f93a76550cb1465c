/**
 * Who may post to `/__protect/*` (design 3.3): the site's own pages, and clients that are no browser.
 * A browser names the page in `Sec-Fetch-Site` or `Origin`; a form on another site can forge neither.
 */
import { addressPrefix } from '../../address/visitor-binding.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import { jsonError } from '../answer/respond.ts';
import { readBounded } from '../submission/submission.ts';
import type { ProtectCall } from './routes.ts';

/** Tokens and solutions are below 9 kB; telemetry is below 1 kB. */
export const POST_MAX_BYTES = 16 * 1024;
/** A household behind one address solves a few challenges a minute; an office some dozens. */
const POSTS_PER_WINDOW_MAX = 300;
const WINDOW_MS = 60_000;
const PREFIXES_MAX = 10_000;

const windows = new BoundedMap<{ openedAtMs: number; posts: number }>(PREFIXES_MAX);

/** `null`: come in. */
export async function admitPost({ passage }: ProtectCall, request: Request): Promise<Response | null> {
  if (request.method !== 'POST') return null;
  if (!isSameOrigin(request, passage.target!.host)) {
    return jsonError(passage, 'API.FORBIDDEN', 'Only pages of this site may call this address.');
  }
  if (Number(request.headers.get('content-length') ?? 0) > POST_MAX_BYTES) return tooLarge(passage);
  const prefix = addressPrefix(passage.signals?.ip ?? null);
  const window = windows.get(prefix);
  if (!window || passage.nowMs - window.openedAtMs > WINDOW_MS) {
    windows.set(prefix, { openedAtMs: passage.nowMs, posts: 1 });
  } else if (++window.posts > POSTS_PER_WINDOW_MAX) {
    const refusal = jsonError(passage, 'API.RATE_LIMITED', 'Too many calls from this network; wait a minute.');
    refusal.headers.set('retry-after', String(Math.ceil(WINDOW_MS / 1000)));
    return refusal;
  }
  return null;
}

/** A JSON object of at most 16 KiB, or the answer that refuses it. */
export async function readJsonObject({ passage }: ProtectCall): Promise<Record<string, unknown> | Response> {
  const { body } = passage.request;
  if (!body) return jsonError(passage, 'API.MISSING_BODY', 'A JSON body is needed.');
  const bytes = await readBounded(body, POST_MAX_BYTES);
  if (bytes === 'too-large') return tooLarge(passage);
  if (bytes === 'unreadable') return jsonError(passage, 'API.PARSE_ERROR', 'The body did not arrive whole.');
  const value = parseJson(bytes);
  return isJsonObject(value) ? value : jsonError(passage, 'API.PARSE_ERROR', 'The body must be a JSON object.');
}

export function isSameOrigin({ headers }: Request, host: string): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const origin = headers.get('origin');
  if (origin === null) return true;
  return origin === `https://${host}` || origin === `http://${host}`;
}

function tooLarge(passage: ProtectCall['passage']): Response {
  return jsonError(passage, 'API.BODY_TOO_LARGE', `At most ${POST_MAX_BYTES} bytes.`);
}
