/** The credential of an edge that gets its rules from a Gatehouse service: the client JWT. */
import { decodeBase64url } from '../../bytes/base64url.ts';
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import type { ClientJwtClaims, EnvironmentReader, RulesSource } from '../environment.ts';

export function readServiceRules({ text, wrong }: EnvironmentReader): RulesSource | undefined {
  const clientJwt = text('CLIENT_JWT');
  const claims = readClientJwt(clientJwt);
  if (!claims) return wrong('CLIENT_JWT must be the JWT that POST /protect/client-jwt/generate issued');
  return { kind: 'service', clientJwt, claims };
}

/** The edge's own claims, unverified. The service verifies them; here they only show age and expiry. */
function readClientJwt(jwt: string): ClientJwtClaims | null {
  const payload = jwt.split('.')[1];
  if (!payload || jwt.length > 4096) return null;
  const claims = parseJson(decodeBase64url(payload));
  if (!isJsonObject(claims)) return null;
  const { sub, iat, exp } = claims;
  if (typeof sub !== 'string' || sub === '' || typeof iat !== 'number' || typeof exp !== 'number') return null;
  return { instanceId: sub, issuedAt: iat, expiresAt: exp };
}
