/** Whether a client JWT works: revoked alone, revoked with every earlier one of its instance, expired, or active. */
import type { ClientJwtRecord } from '../../../../store/d1/client-jwts.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';

/** Far more than regular rotation leaves. */
export const CLIENT_JWTS_LISTED_MAX = 1000;

export const clientJwtStatuses = ['active', 'expired', 'revoked'] as const;

export function clientJwtStatus(
  { issuedAt, expiresAt, revokedAt }: ClientJwtRecord,
  { clientJwtsRevokedBefore }: StoredInstance,
  nowMs: number,
): (typeof clientJwtStatuses)[number] {
  if (revokedAt !== null || issuedAt <= (clientJwtsRevokedBefore ?? -1)) return 'revoked';
  return expiresAt <= nowMs ? 'expired' : 'active';
}
