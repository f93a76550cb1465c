/**
 * The nonce of a page load: the request id of a page that was handed to a visitor without a session (one of the site or the challenge page), with a MAC over their
 * network and user agent. It travels in the fragment of the protect script's address, which a browser neither sends nor
 * caches by, and comes back when the page opens its session. So a session that was opened from a page can be told from
 * one that a script asked for by itself, and nothing is stored. A missing nonce is no wall: the session costs more. See
 * docs/risk.md.
 */
import { addressPrefix } from '../../address/networks.ts';
import { encodeBase64url } from '../../bytes/base64url.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';
import { eventTimeOf } from '../../logsink/event-id.ts';
import type { HmacSha256 } from '../../bytes/hmac-sha256.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { SessionStatus } from '../../contract/vocabulary.ts';

/** A browser may keep a page that was loaded for so long. */
const PAGE_MAX_AGE_MS = 24 * 3_600_000;
/** The clocks of two isolates differ. */
const CLOCK_SKEW_MS = 5000;
/** 96 bits: nobody guesses it, and a page does not become longer than need be. */
const MAC_BYTES = 12;
const FORM = /^([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})\.([\w-]{16})$/;

type Load = Pick<RequestFacts, 'requestId' | 'signals'>;

/**
 * The nonce of the page that answers this request; empty where there is none. A page of a visitor with a session has none,
 * so that one session does not pay for others, and an older service does not take it.
 */
export function pageLoadNonce(facts: Load, config: CompiledConfig, status: SessionStatus): string {
  const isNewcomer = status !== 'active' && status !== 'off';
  return isNewcomer && config.knowsPageLoads ? `${facts.requestId}.${macOf(facts, config.keys.current.pageLoad)}` : '';
}

/** The id of the page load, where the nonce is this visitor's and not too old. */
export function readPageLoad(
  nonce: unknown,
  { signals, nowMs }: Pick<RequestFacts, 'signals' | 'nowMs'>,
  { keys }: Pick<CompiledConfig, 'keys'>,
): string | null {
  const [, requestId, mac] = typeof nonce === 'string' ? (FORM.exec(nonce) ?? []) : [];
  if (requestId === undefined) return null;
  const ageMs = nowMs - eventTimeOf(requestId);
  if (ageMs > PAGE_MAX_AGE_MS || ageMs < -CLOCK_SKEW_MS) return null;
  const isOurs = [...keys.byKid.values()].some(({ pageLoad }) => mac === macOf({ requestId, signals }, pageLoad));
  return isOurs ? requestId : null;
}

function macOf({ requestId, signals: { ip, userAgent } }: Load, key: HmacSha256): string {
  const mac = key.sign(`${requestId}\n${addressPrefix(ip)}\n${userAgent}`);
  return encodeBase64url(mac.subarray(0, MAC_BYTES));
}
