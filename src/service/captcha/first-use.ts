/**
 * Notes when a site first used its widget, and its secret, for the installation guide. What the gate does by itself, and
 * what somebody tries in the console, is neither. Noting does not delay a response.
 */
import type { SealedChallenge } from '../../captcha/seal/sealed-challenge.ts';
import { CLEARANCE_ACTION, EDGE_USER_AGENT } from '../../contract/captcha/challenge-constants.ts';
import { noteFirstUse, type SiteRecord } from '../../store/d1/sites.ts';
import type { ServiceCall } from '../http/service-call.ts';
import type { ChallengeSite } from './challenge/challenge-site.ts';

/** `isThroughEdge`: the page called the gate, which is on no other page than the site's. */
export function noteWidgetSolved(
  call: ServiceCall,
  site: ChallengeSite,
  { action, hostname }: SealedChallenge,
  isThroughEdge: boolean,
): void {
  const origin = call.request.headers.get('origin');
  const service = new URL(call.serviceUrl);
  const isOfPage = isThroughEdge || (origin !== null && (origin !== service.origin || hostname !== service.hostname));
  if (action !== CLEARANCE_ACTION && isOfPage) note(call, site, 'widgetSolvedAt');
}

/**
 * Browsers name their page in a POST, and servers name none. An edge that knows only the documented interface verifies as a
 * server does, and says who it is.
 */
export function noteBackendVerified(call: ServiceCall, site: SiteRecord): void {
  const { headers } = call.request;
  if (!headers.has('origin') && headers.get('user-agent') !== EDGE_USER_AGENT) note(call, site, 'backendVerifiedAt');
}

function note(
  { store, nowMs, waitUntil }: ServiceCall,
  site: ChallengeSite,
  what: 'widgetSolvedAt' | 'backendVerifiedAt',
): void {
  if (site.accountId === null || site[what] !== null) return;
  // The isolate keeps the record for a moment, and writes no more meanwhile.
  site[what] = nowMs;
  waitUntil(noteFirstUse(store, site.siteKey, what, nowMs));
}
