/** A site on the management API: the record around its settings (`site-settings.ts`). Times are epoch milliseconds. */
import * as z from 'zod/mini';
import { siteSettings } from './site-settings.ts';

/** Long enough for any host name used as a name, short enough for a table column. */
const SITE_NAME_MAX_CHARS = 128;

export const siteKey = z.string().check(z.minLength(1), z.maxLength(256));
export const siteName = z
  .string()
  .check(
    z.minLength(1, 'must not be empty'),
    z.maxLength(SITE_NAME_MAX_CHARS),
    z.regex(/^[A-Za-z0-9_-]+$/, 'may hold letters, digits, hyphens and underscores only'),
  );

export const site = z.strictObject({
  name: siteName,
  siteKey,
  secretKey: z.string(),
  settings: siteSettings,
  active: z.boolean(),
  isDefault: z.boolean(),
  /** Rises with every change. An update with `ifVersion` of an older one is refused. */
  version: z.int(),
  createdAt: z.int(),
  updatedAt: z.int(),
  /** When the widget was first solved on a page of the site, the gate's challenge page aside. */
  widgetSolvedAt: z.nullable(z.int()),
  /** When a server of the site, not the gate, first verified a token. */
  backendVerifiedAt: z.nullable(z.int()),
});
export type Site = z.infer<typeof site>;
