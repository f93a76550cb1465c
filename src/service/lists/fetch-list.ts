/**
 * Asks the publisher of a list for it: only public hosts, conditionally, and without following a redirect to another
 * host, which may be anybody's, or inside a network. Each host is resolved before it is asked, after a redirect too.
 */
import { discard, withinTime } from '../../bytes/within-time.ts';
import type { ListAuthorization } from '../../contract/management/lists.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { OutboundSettings } from '../outbound-variables.ts';
import { type OutboundFault, publicPlaceOf } from '../proofs/outbound.ts';

/** For the headers of one answer. */
const TIMEOUT_MS = 20_000;
/** For everything, redirects and 24 MB over a slow connection included. */
const TOTAL_MS = 150_000;
const REDIRECTS_MAX = 3;
const VALIDATOR_MAX_CHARS = 256;

interface ListValidators {
  etag: string | null;
  lastModified: string | null;
}

type ListAnswer = { kind: 'unchanged' } | ({ kind: 'body'; body: ReadableStream<Uint8Array> } & ListValidators);

export async function fetchList(
  url: string,
  authorization: ListAuthorization | null,
  known: ListValidators,
  settings: OutboundSettings,
): Promise<Result<ListAnswer, string>> {
  const headers = new Headers({ accept: '*/*', 'user-agent': 'gatehouse-lists/1' });
  if (authorization !== null) headers.set(authorization.header, authorization.value);
  if (known.etag !== null) headers.set('if-none-match', known.etag);
  if (known.lastModified !== null) headers.set('if-modified-since', known.lastModified);
  const endsAt = Date.now() + TOTAL_MS;
  const asked = await ask(new URL(url), headers, settings);
  if (!asked.ok) return asked;
  const response = asked.value;
  const { status } = response;
  if (status === 304 && (known.etag ?? known.lastModified) !== null) {
    discard(response.body);
    return ok({ kind: 'unchanged' });
  }
  const isPage = /^text\/html|^application\/xhtml/i.test(response.headers.get('content-type') ?? '');
  if (status !== 200 || isPage || response.body === null) {
    discard(response.body);
    if (status !== 200) return failed(`The publisher answers with status ${status}`);
    return failed(isPage ? 'The answer is a web page' : 'The list has no entries');
  }
  return ok({
    kind: 'body',
    body: withinTime(response.body, endsAt - Date.now()),
    etag: validator(response, 'etag'),
    lastModified: validator(response, 'last-modified'),
  });
}

/** CrowdSec's decisions: all of them, or what changed since the last call. */
export function streamUrl(text: string, isWhole: boolean): string {
  const url = new URL(text);
  url.searchParams.set('startup', String(isWhole));
  // By itself, the Local API sends addresses and ranges only.
  if (!url.searchParams.has('scopes')) url.searchParams.set('scopes', 'ip,range,as,country');
  return url.href;
}

async function ask(address: URL, headers: Headers, settings: OutboundSettings): Promise<Result<Response, string>> {
  let url = address;
  for (let step = 0; step <= REDIRECTS_MAX; step += 1) {
    const place = await publicPlaceOf(url, settings);
    if (!place.ok) return failed(refusals[place.error.kind] ?? 'No connection');
    let response: Response;
    try {
      response = await answerInTime(place.value, headers);
    } catch (error) {
      return failed(error instanceof Error && error.name === 'AbortError' ? 'No answer in time' : 'No connection');
    }
    const { status } = response;
    const location = status >= 301 && status <= 308 && status !== 304 ? response.headers.get('location') : null;
    if (location === null) return ok(response);
    discard(response.body);
    const next = URL.parse(location, url.href);
    if (next === null) return failed('The redirect has no address');
    if (next.origin !== url.origin) return failed('The publisher redirects to another host');
    url = next;
  }
  return failed('The publisher redirects too often');
}

/** The deadline is for the headers only: a large list takes longer than that. */
async function answerInTime(url: string, headers: Headers): Promise<Response> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), TIMEOUT_MS);
  try {
    return await fetch(url, { headers, redirect: 'manual', signal: controller.signal });
  } finally {
    clearTimeout(timer);
  }
}

const refusals: Readonly<Record<OutboundFault['kind'], string>> = {
  host: 'The host is not a public one',
  dns: 'The host has no address',
  'private-address': 'The host is in a private network',
  unreachable: 'No connection',
  status: 'No connection',
  'too-large': 'The list is too long',
};

function validator({ headers }: Response, name: string): string | null {
  const value = headers.get(name);
  return value !== null && value.length <= VALIDATOR_MAX_CHARS ? value : null;
}
