/**
 * Loss-less challenge (design 3.3): a challenged same-origin submission is sealed into the interstitial
 * and comes back after solving, to the address it was meant for, with a mark in the query. It is then
 * decided anew like any request, and sent to the origin at most once: its seal is spent before.
 */
import { visitorBinding } from '../../address/visitor-binding.ts';
import { canonicalTarget } from '../request/canonical-path.ts';
import type { CanonicalTarget } from '../request/canonical-path.ts';
import type { Edge } from '../isolate/edge.ts';
import { readHeaders } from '../request/header-facts.ts';
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import type { Passage } from '../request/passage.ts';
import { isSameOrigin } from '../protect/admission.ts';
import { openReplay, sealReplay, SEAL_MAX_CHARS } from '../seal/replay-seal.ts';
import { challenge, message, noRoom } from '../answer/respond.ts';
import type { ChallengeExtras } from '../answer/respond.ts';
import { readBounded } from '../submission/submission.ts';
import type { Submission } from '../submission/submission.ts';
import { heldWaitSeconds } from './wait-lane.ts';

/** Held for a challenge: above it a hidden form field would be a burden on the visitor's line. */
export const REPLAY_MAX_BYTES = 1024 * 1024;
/** Ends the query of the address a held submission returns to; never reaches the origin. */
const REPLAY_MARK = '__protect-replay=1';
/** The field's name adds little; nothing in a seal is encoded. */
const REPLAY_BODY_MAX_BYTES = SEAL_MAX_CHARS + 1024;
const SPEND_TIMEOUT_MS = 3000;
/** `{"spent": true}`, with room. */
const SPEND_ANSWER_MAX_BYTES = 1024;

/** The challenge for a submission without a (good) token; what may not be held is to be sent again. */
export async function sealedReplay(
  passage: Passage,
  edge: Edge,
  submission: Submission,
  notice?: ChallengeExtras['notice'],
): Promise<Response> {
  const { request, config, signals, nowMs, requestId } = passage;
  const target = passage.target!;
  const again = notice === undefined ? {} : { notice };
  if (submission.body.length > REPLAY_MAX_BYTES) {
    return message(
      passage,
      'too-large',
      'API.BODY_TOO_LARGE',
      'This submission is too large to be held for a challenge.',
    );
  }
  // Without a ledger nobody could promise that it is sent once.
  const canBeSpent = edge.environment.rules.kind === 'service';
  if (!config || !signals || !canBeSpent || request.method !== 'POST' || !isOwnPagesSubmission(request, target.host)) {
    return message(
      passage,
      'send-again',
      'API.CHALLENGE_REQUIRED',
      'Solve the challenge on this site, then send the form again.',
    );
  }
  const seal = await sealReplay(config.keys.current, {
    // Challenged once more it stays the one submission, however many seals of it there are.
    id: passage.replay?.id ?? requestId,
    host: target.host,
    received: target.received,
    contentType: submission.contentType,
    referer: request.headers.get('referer'),
    binding: await visitorBinding(signals.ip, signals.userAgent),
    sealedAtMs: passage.replay?.sealedAtMs ?? nowMs,
    body: submission.body,
  });
  // A form's action of two slashes would be a host; `/.` in front is resolved away by the browser.
  const path = /^\/[/\\]/.test(target.received) ? `/.${target.received}` : target.received;
  const url = `${path}${target.query === '' ? '?' : '&'}${REPLAY_MARK}`;
  return challenge(passage, { ...again, replay: { url, seal, waitSeconds: heldWaitSeconds(passage) } });
}

export function bearsReplayMark(query: string): boolean {
  return query.endsWith(`?${REPLAY_MARK}`) || query.endsWith(`&${REPLAY_MARK}`);
}

/**
 * Whether it brings a seal back. The page that answered a held submission keeps the mark in its
 * address: its reload, and the form on it that posts to its own address, are requests like any other.
 * Hardly a form is `text/plain`, as the interstitial's is.
 */
export function bringsSeal({ method, headers }: Request): boolean {
  return method === 'POST' && (headers.get('content-type') ?? '').startsWith('text/plain');
}

/** The same target as the origin knows it. */
export function withoutReplayMark({ scheme, host, received }: CanonicalTarget): CanonicalTarget | null {
  return canonicalTarget(`${scheme}://${host}${received.slice(0, -1 - REPLAY_MARK.length)}`);
}

/**
 * Puts the held submission in the place of the request that brought it back. A response instead: this
 * one cannot be trusted, the visitor is told to send it again.
 */
export async function restoreSubmission(passage: Passage, edge: Edge): Promise<Response | null> {
  const { request, config, signals, nowMs } = passage;
  const target = passage.target!;
  const refusal = () =>
    message(passage, 'send-again', 'API.BAD_REQUEST', 'The held submission is no longer valid; send it again.');
  if (!config || !signals || !request.body || !isSameOrigin(request, target.host)) return refusal();
  const bytes = await readBounded(request.body, REPLAY_BODY_MAX_BYTES, edge.bodies.holdFor(passage));
  if (bytes === 'no-room') return noRoom(passage);
  if (typeof bytes === 'string') return refusal();
  const seal = /^seal=(\S+)/.exec(new TextDecoder().decode(bytes))?.[1] ?? '';
  const held = await openReplay(config.keys.byKid, seal, nowMs);
  if (!held || held.host !== target.host) return refusal();
  if (held.binding !== (await visitorBinding(signals.ip, signals.userAgent))) return refusal();

  const headers = new Headers(request.headers);
  headers.set('content-type', held.contentType);
  if (held.contentType === '') headers.delete('content-type');
  headers.delete('content-length');
  if (held.referer === null) headers.delete('referer');
  else headers.set('referer', held.referer);
  const restored = canonicalTarget(`${target.scheme}://${held.host}${held.received}`);
  if (!restored || !target.received.startsWith(held.received)) return refusal();
  passage.request = new Request(`${target.scheme}://${held.host}${held.received}`, {
    method: 'POST',
    headers,
    body: held.body,
    redirect: 'manual',
  });
  passage.headers = readHeaders(passage.request.headers);
  passage.target = restored;
  passage.replay = { id: held.id, sealedAtMs: held.sealedAtMs };
  return null;
}

/**
 * True once per seal, wherever it is asked: the service's ledger decides. Without an answer it is
 * false, since a submission sent twice is worse than one the visitor must send again.
 */
export async function spendReplay(edge: Edge, replay: { id: string; sealedAtMs: number }): Promise<boolean> {
  if (edge.environment.rules.kind !== 'service') return false;
  try {
    const body = JSON.stringify({ id: replay.id, bornAt: replay.sealedAtMs });
    const answer = await edge.service.call('/edge/v1/seals/spend', SPEND_TIMEOUT_MS, body);
    const bytes = answer.body && (await readBounded(answer.body, SPEND_ANSWER_MAX_BYTES));
    if (answer.status !== 200 || !(bytes instanceof Uint8Array)) return false;
    const spent = parseJson(bytes);
    return isJsonObject(spent) && spent['spent'] === true;
  } catch {
    edge.count('seal_spend_failures');
    return false;
  }
}

/**
 * Whether one of the site's own pages sent it. Stricter than for `/__protect/*`: what says nothing
 * about where it comes from is not held, because it will come back with the visitor's cookies.
 */
function isOwnPagesSubmission({ headers }: Request, host: string): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin' || site === 'none';
  const origin = headers.get('origin');
  return origin === `https://${host}` || origin === `http://${host}`;
}
