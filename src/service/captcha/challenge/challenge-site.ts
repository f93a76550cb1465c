/**
 * The site of a challenge: a test site, or an active site whose account is not disabled. An edge gets challenges for
 * sites of its own account only, so that one customer cannot vouch for the visitors of another.
 */
import { behaviourOfSiteKey } from '../../../contract/captcha/test-keys.ts';
import { type SiteSettings, siteSettings } from '../../../contract/management/site-settings.ts';
import { failed, ok, type Result } from '../../../result.ts';
import type { CaptchaRefusal } from '../../http/service-error.ts';
import type { CaptchaEngine } from '../captcha-engine.ts';
import type { SiteRecord } from '../../../store/d1/sites.ts';
import type { Visitor } from '../visitor.ts';
import { jwtVerify } from 'jose';
import { encodeUtf8 } from '../../../bytes/utf8.ts';
import { userAccount } from '../../../contract/captcha/challenge-api.ts';

export interface ChallengeSite extends Pick<SiteRecord, 'widgetSolvedAt' | 'backendVerifiedAt'> {
  siteKey: string;
  /** `null` for a test site, which belongs to no account. */
  accountId: string | null;
  /** `null` for a test site, whose secret everybody knows. */
  secretKey: string | null;
  settings: SiteSettings;
}

export async function challengeSite(
  engine: CaptchaEngine,
  siteKey: string,
  visitor: Visitor,
  nowMs: number,
): Promise<Result<ChallengeSite, CaptchaRefusal>> {
  const test = testSite(siteKey);
  if (test !== null) return ok(test);
  const site = await engine.siteByKey(siteKey, nowMs);
  if (site === null || !site.active || site.accountDisabled) return failed({ kind: 'site-not-registered' });
  if (visitor.edgeAccountId !== null && visitor.edgeAccountId !== site.accountId) {
    return failed({ kind: 'site-of-another-account' });
  }
  return ok(site);
}

/**
 * The site behind a test key: no row, no account, any host name. Its challenges are real and easy, so that a widget can
 * be tested as a whole. `siteverify.ts` says what its tokens are worth.
 */
function testSite(siteKey: string): ChallengeSite | null {
  const behaviour = behaviourOfSiteKey(siteKey);
  if (behaviour === null) return null;
  const captchaType = behaviour === 'interactive' ? 'image' : 'pow';
  return {
    siteKey,
    accountId: null,
    secretKey: null,
    widgetSolvedAt: null,
    backendVerifiedAt: null,
    settings: siteSettings.parse({ domains: ['localhost'], captchaType, powDifficulty: 1 }),
  };
}

/**
 * The account that a page names with its visitor: a JWT that the site's backend signed with the site's secret key, so
 * that no visitor can claim to be somebody else. A token that is not valid counts as none, because that is what leaving
 * it out achieves; a page that was open for long must not stop working.
 * @returns the `sub` of the token.
 */
export async function signedAccount(
  { secretKey }: ChallengeSite,
  userToken: string | undefined,
  nowMs: number,
): Promise<string | null> {
  if (userToken === undefined || secretKey === null) return null;
  try {
    const options = { algorithms: ['HS256'], currentDate: new Date(nowMs) };
    const { payload } = await jwtVerify(userToken, encodeUtf8(secretKey), options);
    const account = userAccount.safeParse(payload.sub);
    return account.success ? account.data : null;
  } catch {
    return null;
  }
}
