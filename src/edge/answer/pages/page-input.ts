/** The input of every page: plain data. A page is a pure function from it to a string. */
import type { Branding } from '../../../contract/management/instance-policy.ts';
import type { PageLanguages } from '../../../locales/messages.ts';

export interface PageInput {
  /** The CSP's nonce, see `pageSecurityHeaders`. */
  nonce: string;
  /** Shown as `Reference: …`, the same as `X-Protect-Request-Id`. */
  requestId: string;
  /** The request's `Accept-Language`, unchanged. */
  acceptLanguage: string | null;
  /** Texts to choose from; English at least. */
  languages: PageLanguages;
  branding: Branding;
  /** The host that the visitor asked for, as the URL has it. */
  host: string;
  /** Content hashes of the browser scripts; a page loads `interstitial.js` or `copy.js`. */
  assetHashes: Readonly<Record<string, string>>;
  /** Style sheet, from `pageStyle`. Empty before the first config is loaded. */
  style: string;
}
