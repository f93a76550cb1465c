/**
 * The way through without scripts (design 5): a sealed link that opens after some seconds and buys
 * level 0. Offered only where level 0 is enough and nothing but a rule or a path asked for the
 * challenge: it stands in for no picture and for no visitor at risk. Budgeted per network, in
 * all isolates by the service's ledger, in this one whether or not there is one. A held submission
 * comes back by its own seal, as late.
 */
import { addressPrefix, visitorBinding } from '../../address/visitor-binding.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';
import { clearanceCookie, newClearance } from '../session/clearance.ts';
import type { Passage } from '../request/passage.ts';
import { openJson, sealJson } from '../seal/sealed-box.ts';
import { answer, message } from '../answer/respond.ts';
import { askWaitLedger } from './wait-ledger.ts';
import type { WaitLedger } from './wait-ledger.ts';

export const WAIT_SECONDS = 12;
const TICKET_SECONDS = 600;
/** A family without scripts; a farm gets this many per isolate and network. */
const WAITS_PER_WINDOW_MAX = 10;
const WINDOW_MS = 3_600_000;
const PREFIXES_MAX = 10_000;

interface Ticket {
  jti: string;
  binding: string;
  returnTo: string;
  /** Epoch milliseconds. */
  opensAt: number;
  closesAt: number;
}

const used = new BoundedMap<{ openedAtMs: number; waits: number }>(PREFIXES_MAX);
const taken = new BoundedMap<true>(PREFIXES_MAX);

/** The link for an interstitial, or `null` where this lane is not offered. */
export async function waitLink(passage: Passage): Promise<{ url: string; waitSeconds: number } | null> {
  const { config, signals, request, nowMs, requestId } = passage;
  if (!config || !signals || request.method !== 'GET' || !isOffered(passage)) return null;
  const ticket: Ticket = {
    jti: requestId,
    binding: await visitorBinding(signals.ip, signals.userAgent),
    returnTo: passage.target!.received,
    opensAt: nowMs + WAIT_SECONDS * 1000,
    closesAt: nowMs + TICKET_SECONDS * 1000,
  };
  const sealed = await sealJson(config.keys.current, 'wait', ticket);
  return { url: `/__protect/wait?ticket=${sealed}`, waitSeconds: WAIT_SECONDS + 1 };
}

/** Seconds after which a held submission may come back by itself, or `null` where it may not. */
export function heldWaitSeconds(passage: Passage): number | null {
  return isOffered(passage) ? WAIT_SECONDS + 1 : null;
}

/**
 * Whether a held submission came back after the wait: its seal is the ticket, bound to the visitor and
 * spent before the origin is called. What it buys is what a wait link buys.
 */
export async function takeHeldWait(passage: Passage, ledger: WaitLedger | null): Promise<boolean> {
  const { config, signals, replay, nowMs } = passage;
  if (!replay || !config || !signals || !isOffered(passage)) return false;
  if (nowMs - replay.sealedAtMs < WAIT_SECONDS * 1000) return false;
  if (!(await mayPass(ledger, { id: replay.id, bornAt: replay.sealedAtMs, ip: signals.ip }, nowMs))) return false;
  passage.verified = true;
  const claims = await newClearance(config, signals, replay.id, 0, nowMs);
  passage.cookies.push(await clearanceCookie(claims, config, nowMs));
  return true;
}

function isOffered({ config, signals, verdict }: Passage): boolean {
  if (!config || !signals || config.policy.clearanceLevel > 0) return false;
  const atRisk = (verdict?.riskScore ?? 0) >= config.policy.challengeThreshold || verdict?.source === 'ip-category';
  return !atRisk && (used.get(addressPrefix(signals.ip))?.waits ?? 0) < WAITS_PER_WINDOW_MAX;
}

/** `GET /__protect/wait`: once with the ticket, once more to see that the browser kept the cookie. */
export async function takeWait(passage: Passage, ledger: WaitLedger | null): Promise<Response> {
  const { config, signals, nowMs } = passage;
  const query = new URLSearchParams(passage.target!.query);
  const refusal = () => message(passage, 'send-again', 'API.BAD_REQUEST', 'This link is no longer valid.');
  if (!config || !signals) return refusal();
  const ticket = await openJson<Ticket>(config.keys.byKid, 'wait', query.get('ticket') ?? '');
  if (!ticket || nowMs > ticket.closesAt) return refusal();
  if (ticket.binding !== (await visitorBinding(signals.ip, signals.userAgent))) return refusal();
  if (query.has('kept')) {
    return passage.clearance
      ? goOn(passage, ticket.returnTo)
      : message(passage, 'cookies-off', 'API.FORBIDDEN', 'The browser kept no cookie.');
  }
  // Too early is the one thing a patient visitor can mend: the same link, later.
  if (nowMs < ticket.opensAt) return goOn(passage, `/__protect/wait${passage.target!.query}`, ticket.opensAt - nowMs);
  if (taken.get(ticket.jti)) return refusal();
  taken.set(ticket.jti, true);
  const bornAt = ticket.opensAt - WAIT_SECONDS * 1000;
  if (!(await mayPass(ledger, { id: ticket.jti, bornAt, ip: signals.ip }, nowMs))) return refusal();
  passage.verified = true;
  const claims = await newClearance(config, signals, ticket.jti, 0, nowMs);
  passage.cookies.push(await clearanceCookie(claims, config, nowMs));
  return goOn(passage, `/__protect/wait${passage.target!.query}&kept=1`);
}

/** Within the isolate's budget and, where it answers, the ledger's, which is exact. */
async function mayPass(
  ledger: WaitLedger | null,
  { id, bornAt, ip }: { id: string; bornAt: number; ip: string | null },
  nowMs: number,
): Promise<boolean> {
  if (!countUse(addressPrefix(ip), nowMs)) return false;
  return ledger === null || ip === null || (await askWaitLedger(ledger, { id, bornAt, ip })) !== false;
}

function countUse(prefix: string, nowMs: number): boolean {
  const window = used.get(prefix);
  if (!window || nowMs - window.openedAtMs > WINDOW_MS) {
    used.set(prefix, { openedAtMs: nowMs, waits: 1 });
    return true;
  }
  return ++window.waits <= WAITS_PER_WINDOW_MAX;
}

/** `target` is a path of this site: the edge sealed it. A path of two slashes would be a host. */
function goOn(passage: Passage, target: string, waitMs = 0): Response {
  const location = target.replace(/^\/[/\\]+/, '/');
  return waitMs > 0
    ? answer(passage, 200, null, { refresh: `${Math.ceil(waitMs / 1000)};url=${location}` })
    : answer(passage, 303, null, { location });
}
