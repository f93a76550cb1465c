/**
 * The account that a page names with its visitor: a JWT that the site's backend signed with the site's secret key, so
 * that no visitor can claim to be somebody else. A token that is not valid counts as none, because that is what leaving
 * it out achieves; a page that was open for long must not stop working.
 */
import { jwtVerify } from 'jose';
import { encodeUtf8 } from '../../../bytes/utf8.ts';
import { userAccount } from '../../../contract/captcha/challenge-api.ts';
import type { ChallengeSite } from './challenge-site.ts';

/** @returns the `sub` of the token. */
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
