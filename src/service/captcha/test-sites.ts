/**
 * The sites behind the test keys: no row, no account, any host name. Their challenges are real and
 * easy, so that a widget can be tested whole; what their tokens are worth is in `siteverify.ts`.
 */
import { siteSettings } from '../../contract/management/site-settings.ts';
import type { SiteSettings } from '../../contract/management/site-settings.ts';
import { behaviourOfSiteKey } from '../../contract/captcha/test-keys.ts';

export interface ChallengeSite {
  siteKey: string;
  /** `null`: a test site, which is nobody's. */
  accountId: string | null;
  settings: SiteSettings;
}

export function testSite(siteKey: string): ChallengeSite | null {
  const behaviour = behaviourOfSiteKey(siteKey);
  if (behaviour === null) return null;
  const captchaType = behaviour === 'interactive' ? 'image' : 'pow';
  return {
    siteKey,
    accountId: null,
    settings: siteSettings.parse({ domains: ['localhost'], captchaType, powDifficulty: 1 }),
  };
}
