/**
 * A submission that was held for a challenge and comes back. It is then judged like any request and sent to the origin at
 * most once: its seal is spent first.
 */
import { visitorBinding } from '../../address/visitor-binding.ts';
import { failed, ok, type Result } from '../../result.ts';
import { type Answer, message, NOT_READ } from '../answer/answer.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';
import type { HeldReturn } from '../decide/context.ts';
import type { ServiceClient } from '../feed/service-client.ts';
import type { Count } from '../feed/upstream.ts';
import { canonicalTarget } from '../request/canonical-path.ts';
import { replacedRequest, type RequestFacts } from '../request/facts.ts';
import { isSameOrigin } from '../request/same-origin.ts';
import { SEAL_MAX_CHARS, openHeld } from '../seal/held-submission-seal.ts';
import type { BodyBudget } from '../submission/body-budget.ts';
import { readBounded } from '../../bytes/read-bounded.ts';

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
