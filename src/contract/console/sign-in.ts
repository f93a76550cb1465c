/**
 * What the console and `/console/auth/*` say to each other. The endpoints are for the console's own pages and no part of
 * the management API; refusals have its envelope. Times are epoch milliseconds.
 */
import * as z from 'zod/mini';
import type { Feature, PermissionMap, UserRole } from '../management/permissions.ts';
import type { AccountTier } from '../vocabulary.ts';

const TOKEN_MAX_CHARS = 4096;
/** A credential of an authenticator with a long certificate chain still fits. */
const CREDENTIAL_FIELD_MAX_CHARS = 32_768;
const NAME_MAX_CHARS = 64;
const EMAIL_MAX_CHARS = 320;

const token = z.string().check(z.minLength(1), z.maxLength(TOKEN_MAX_CHARS));
const base64url = z.string().check(z.maxLength(CREDENTIAL_FIELD_MAX_CHARS), z.regex(/^[A-Za-z0-9_-]*$/));
/** Whose session may end with this sign-in: the answer to a `SignInQuestion`. */
const replaces = z.optional(z.string().check(z.maxLength(EMAIL_MAX_CHARS)));
const credentialId = z.string().check(z.minLength(1), z.maxLength(1368), z.regex(/^[A-Za-z0-9_-]+$/));
export const passkeyName = z.string().check(z.trim(), z.minLength(1), z.maxLength(NAME_MAX_CHARS));

/** `PublicKeyCredential.toJSON()`; browsers add more fields, which do not count. */
const created = z.object({
  id: credentialId,
  response: z.object({ clientDataJSON: base64url, attestationObject: base64url }),
});
const asserted = z.object({
  id: credentialId,
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: z.optional(z.nullable(base64url)),
  }),
});
export type CreatedCredential = z.infer<typeof created>;
export type AssertedCredential = z.infer<typeof asserted>;

/** Bodies of the POST endpoints, by the end of their path. */
export const signInBodies = {
  link: z.strictObject({ token, replaces }),
  /** OpenID Connect and Access: the proof is in a cookie, or in a header. */
  provider: z.strictObject({ replaces }),
  choose: z.strictObject({ accountId: token, ticket: z.optional(token), replaces }),
  nothing: z.strictObject({}),
  enrol: z.strictObject({ name: passkeyName, credential: created }),
  assertion: z.strictObject({ credential: asserted, replaces }),
  rename: z.strictObject({ credentialId, name: passkeyName }),
  removePasskey: z.strictObject({ credentialId }),
  revoke: z.strictObject({ id: token }),
} as const;

/** `GET /console/auth/ways`: what the sign-in page offers. */
export interface SignInWays {
  oidc: boolean;
  access: boolean;
}

export type ShownRole = 'owner' | UserRole;

export interface ShownMembership {
  accountId: string;
  ownerEmail: string;
  role: ShownRole;
}

/**
 * The browser has a session of somebody else. Nothing has changed, and the proof still counts: the same call with
 * `replaces: isSignedInAs` signs in.
 */
export interface SignInQuestion {
  signedIn: false;
  isSignedInAs: string;
  signsInAs: string;
}

/** The end of every way in: signed in, or first an answer, or which account. */
export type SignedIn =
  | { signedIn: true; accountId: string }
  | { signedIn: false; ticket: string; accounts: ShownMembership[] }
  | SignInQuestion;

/** `GET /console/auth/me` */
export interface Me {
  email: string;
  name: string;
  role: ShownRole;
  account: { id: string; ownerEmail: string; tier: AccountTier; features: readonly Feature[]; disabled: boolean };
  permissions: PermissionMap;
  /** Every account that the person may choose. None of them is disabled. */
  accounts: ShownMembership[];
  signedInAt: number;
  /** Until then passkeys may be changed. */
  freshUntil: number;
  passkeyCount: number;
  /** Whether lists and webhooks may be on the service's own machine, over http: on the local stack. */
  callsOwnMachine: boolean;
}

export interface ShownPasskey {
  credentialId: string;
  name: string;
  createdAt: number;
  lastUsedAt: number | null;
}

export interface ShownSession {
  id: string;
  current: boolean;
  accountId: string;
  method: 'link' | 'passkey' | 'oidc' | 'access';
  signedInAt: number;
  lastSeenAt: number;
  address: string | null;
  userAgent: string;
}
