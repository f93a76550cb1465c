/**
 * The site a challenge is asked for: a test site, or an active one whose account is not disabled. An
 * edge may ask for sites of its own account only, lest one customer vouch for another's visitors.
 */
import { ApiError } from '../operations/operation.ts';
import type { CaptchaEngine } from './engine.ts';
import { testSite } from './test-sites.ts';
import type { ChallengeSite } from './test-sites.ts';
import type { Visitor } from './visitor.ts';

export async function challengeSite(
  engine: CaptchaEngine,
  siteKey: string,
  visitor: Visitor,
  nowMs: number,
): Promise<ChallengeSite> {
  const test = testSite(siteKey);
  if (test !== null) return test;
  const site = await engine.siteByKey(siteKey, nowMs);
  if (site === null || !site.active || site.accountDisabled) {
    throw new ApiError('API.SITE_KEY_NOT_REGISTERED', 'There is no active site with this key');
  }
  if (visitor.edgeAccountId !== null && visitor.edgeAccountId !== site.accountId) {
    throw new ApiError('API.FORBIDDEN', 'The site belongs to another account than the edge');
  }
  return site;
}
