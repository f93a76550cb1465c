/**
 * What the edge tells a page. Plain data: pages are pure functions from it to a string.
 */
import type * as z from 'zod/mini';
import type { branding } from '../../../contract/management/instance.ts';
import type { PageLanguages } from '../../../locales/messages.ts';

export type Branding = z.infer<typeof branding>;

export interface PageInput {
  /** Of this answer's CSP; see `pageSecurityHeaders`. */
  nonce: string;
  /** Shown as `Reference: …`, the same as `X-Protect-Request-Id`. */
  requestId: string;
  /** The request's `Accept-Language`, as it came. */
  acceptLanguage: string | null;
  /** Texts to choose from; English at least. */
  languages: PageLanguages;
  branding: Branding;
}
