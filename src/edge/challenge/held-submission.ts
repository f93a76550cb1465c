/**
 * A challenge that loses no submission: a challenged same-origin submission is sealed into the interstitial, which brings
 * it back after solving, to its own address. It is then judged like any request and sent to the origin at most once: its
 * seal is spent first.
 */
import { visitorBinding } from '../../address/visitor-binding.ts';
import { NOT_READ, TOO_LARGE, message, type Answer, type ChallengeExtras } from '../answer/answer.ts';
import type { HeldReturn, JudgedContext } from '../decide/context.ts';
import { canonicalTarget, ownReference } from '../../decide/request-target.ts';
import { isSameOrigin, replacedRequest, type RequestFacts } from '../request/facts.ts';
import { answerWith, type Step } from '../step/step.ts';
import { bodyForOrigin, type Submission } from '../submission/read-submission.ts';
import { NO_COOKIE, WAIT_SECONDS } from './wait-lane.ts';
import type { ChallengePorts } from './check-token.ts';
import type { Bytes } from '../../bytes/utf8.ts';
import type { CompiledConfig, ImportedKeys } from '../config/compiled-config.ts';
import { openBox, sealBox } from './sealed-box.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { ServiceClient } from '../feed/service-client.ts';
import type { Count } from '../feed/upstream.ts';
import type { BodyBudget } from '../submission/body-budget.ts';
import { readBounded } from '../../bytes/read-bounded.ts';

/** The largest body held for a challenge: more in a hidden form field would burden a slow connection. */
const HELD_MAX_BYTES = 1024 * 1024;
const SEND_AGAIN = message('send-again', 'API.CHALLENGE_REQUIRED', 'Solve the challenge, then send the request again.');

/**
 * The challenge for a submission without a good token. A submission that may not be held must be sent again. `refusal`:
 * of the token that it had, and what the page says about it.
 */
export async function holdSubmission(
  context: JudgedContext,
  { environment, waitLane }: ChallengePorts,
  submission: Submission,
  refusal?: Pick<ChallengeExtras, 'notice'>,
): Promise<Step> {
  const { facts, config, held, clearance } = context;
  const { request, target, signals, nowMs, requestId } = facts;
  const tokenVerified = refusal === undefined ? null : false;
  if (submission.body.length > HELD_MAX_BYTES) return answerWith(context, TOO_LARGE, tokenVerified);
  // It came back after the wait and still has no clearance: the browser keeps no cookie. Another round would not help.
  if (held && !clearance && nowMs - held.sealedAtMs >= WAIT_SECONDS * 1000) {
    return answerWith(context, NO_COOKIE, tokenVerified);
  }
  // Without a ledger that spends the seal, the submission could be sent twice.
  const canBeSpent = environment.rules.kind === 'service';
  if (!canBeSpent || request.method !== 'POST' || !isSameOrigin(request, target.host, false)) {
    return answerWith(context, SEND_AGAIN, tokenVerified);
  }
  const seal = await sealHeld(config.keys.current, {
    // A submission that is challenged again keeps its id, so that all its seals are spent together.
    id: held?.id ?? requestId,
    host: target.host,
    received: target.received,
    contentType: submission.contentType,
    referer: request.headers.get('referer'),
    binding: await visitorBinding(signals.ip, signals.userAgent),
    sealedAtMs: held?.sealedAtMs ?? nowMs,
    body: bodyForOrigin(submission, config.policy.submission),
  });
  const replay = { url: ownReference(target.received), seal, noScript: await waitLane.link(context, null) };
  return answerWith(context, { kind: 'challenge', ...refusal, replay }, tokenVerified);
}

/**
 * The sealed form of a held submission: who sent it, where it goes, and its body. The visitor's page carries it, can
 * neither read nor change it, and it is valid for half an hour.
 */
export interface HeldSubmission {
  /** Id of the request that was challenged. Spent once. */
  id: string;
  host: string;
  /** Path and query as received. */
  received: string;
  contentType: string;
  referer: string | null;
  /** The visitor's binding, see `address/visitor-binding.ts`. */
  binding: string;
  sealedAtMs: number;
  body: Bytes;
}

/** Enough for a slow solver on a slow phone who is interrupted. */
const SEAL_MAX_AGE_MS = 30 * 60_000;
const LENGTH_BYTES = 4;
/** 1 MiB of body and the longest headers a runtime accepts, in base64url. */
export const SEAL_MAX_CHARS = 1_500_000;

export function sealHeld(keys: ImportedKeys, held: HeldSubmission): Promise<string> {
  const { body, ...head } = held;
  const headBytes = new TextEncoder().encode(JSON.stringify(head));
  const plain = new Uint8Array(LENGTH_BYTES + headBytes.length + body.length);
  new DataView(plain.buffer).setUint32(0, headBytes.length);
  plain.set(headBytes, LENGTH_BYTES);
  plain.set(body, LENGTH_BYTES + headBytes.length);
  return sealBox(keys, 'replay', plain);
}

/** `null`: not sealed by this instance, changed, or too old. */
export async function openHeld(
  byKid: ReadonlyMap<string, ImportedKeys>,
  seal: string,
  nowMs: number,
): Promise<HeldSubmission | null> {
  const plain = seal.length > SEAL_MAX_CHARS ? null : await openBox(byKid, 'replay', seal);
  if (!plain) return null;
  const bodyAt = LENGTH_BYTES + new DataView(plain.buffer).getUint32(0);
  const head = JSON.parse(new TextDecoder().decode(plain.subarray(LENGTH_BYTES, bodyAt))) as HeldSubmission;
  const ageMs = nowMs - head.sealedAtMs;
  return ageMs >= 0 && ageMs <= SEAL_MAX_AGE_MS ? { ...head, body: plain.slice(bodyAt) } : null;
}

/** Begins the body that the interstitial sends. */
const SEAL_FIELD = 'seal=';
/** The field's name adds little, and nothing in a seal is encoded. */
const RETURN_BODY_MAX_BYTES = SEAL_MAX_CHARS + 1024;

/**
 * Whether the body is what the interstitial sends. Only the beginning of a copy is read, so that any other body goes to
 * the origin as it comes. A body that the visitor aborts before its field is not one.
 */
async function bringsSeal(request: Request): Promise<boolean> {
  const reader: ReadableStreamDefaultReader<Uint8Array> = request.clone().body!.getReader();
  let text = '';
  while (text.length < SEAL_FIELD.length) {
    const chunk = await reader.read().catch(() => null);
    if (!chunk?.value) break;
    text += new TextDecoder().decode(chunk.value);
  }
  void reader.cancel().catch(() => null);
  return text.startsWith(SEAL_FIELD);
}

/** `no-room`: this isolate cannot hold it now. `not-valid`: its seal does not open here and now, for this visitor. */
export interface ReturnFault {
  kind: 'no-room' | 'not-valid';
}
const NOT_VALID = failed<ReturnFault>({ kind: 'not-valid' });

/** What a visitor gets whose submission is not taken back. */
export const NOT_RETURNED: Record<ReturnFault['kind'], Answer> = {
  'no-room': NOT_READ['no-room'],
  'not-valid': message('send-again', 'API.BAD_REQUEST', 'This submission is no longer valid. Send it again.'),
};

/** The held submission that the request brings back, or the request itself. */
export async function returnedSubmission(
  facts: RequestFacts,
  config: CompiledConfig | null,
  bodies: BodyBudget,
): Promise<Result<{ facts: RequestFacts; held: HeldReturn | null }, ReturnFault>> {
  const { request, target, signals, nowMs } = facts;
  if (!config || !request.body || !(await bringsSeal(request))) return ok({ facts, held: null });
  const bytes = await readBounded(request.body, RETURN_BODY_MAX_BYTES, { room: bodies.hold(facts) });
  if (!bytes.ok) return bytes.error.kind === 'no-room' ? failed({ kind: 'no-room' }) : NOT_VALID;
  const seal = new TextDecoder().decode(bytes.value).slice(SEAL_FIELD.length).trimEnd();
  if (!isSameOrigin(request, target.host, true)) return NOT_VALID;
  const held = await openHeld(config.keys.byKid, seal, nowMs);
  if (!held || held.host !== target.host) return NOT_VALID;
  if (held.binding !== (await visitorBinding(signals.ip, signals.userAgent))) return NOT_VALID;
  const url = `${target.scheme}://${held.host}${held.received}`;
  const restoredTarget = canonicalTarget(url);
  if (!restoredTarget || target.received !== held.received) return NOT_VALID;

  const headers = new Headers(request.headers);
  headers.set('content-type', held.contentType);
  if (held.contentType === '') headers.delete('content-type');
  headers.delete('content-length');
  if (held.referer === null) headers.delete('referer');
  else headers.set('referer', held.referer);
  const submission = new Request(url, { method: 'POST', headers, body: held.body, redirect: 'manual' });
  return ok({
    facts: replacedRequest(facts, submission, restoredTarget),
    held: { id: held.id, sealedAtMs: held.sealedAtMs },
  });
}

/**
 * True once per seal, in whichever isolate: the service's ledger decides. False without its answer, because a
 * submission sent twice is worse than one the visitor must send again.
 */
export async function spendHeld(
  service: ServiceClient,
  count: Count,
  { id, sealedAtMs }: HeldReturn,
): Promise<boolean> {
  const spent = await service.spendSeal({ id, bornAt: sealedAtMs });
  if (!spent.ok) count('seal_spend_failures');
  return spent.ok && spent.value;
}
