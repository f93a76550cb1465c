/** The credential of an edge that gets its rules from a Gatehouse service: the client JWT. */
import { decodeBase64url } from '../../bytes/base64url.ts';
import { isJsonObject, parseJson } from '../../bytes/json.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { ClientJwtClaims, EnvironmentReader, RulesSource } from '../environment.ts';

const NOT_A_JWT = failed(['CLIENT_JWT must be the JWT that POST /protect/client-jwt/generate issued']);

export function readServiceRules({ text }: EnvironmentReader): Result<RulesSource, string[]> {
  const clientJwt = text('CLIENT_JWT');
  const claims = readClientJwt(clientJwt);
  return claims.ok ? ok({ kind: 'service', clientJwt, claims: claims.value }) : claims;
}

/** The edge's own claims, unverified. The service verifies them; here they only show age and expiry. */
function readClientJwt(jwt: string): Result<ClientJwtClaims, string[]> {
  const payload = jwt.split('.')[1];
  if (!payload || jwt.length > 4096) return NOT_A_JWT;
  const claims = parseJson(decodeBase64url(payload));
  if (!isJsonObject(claims)) return NOT_A_JWT;
  const { sub, iat, exp } = claims;
  if (typeof sub !== 'string' || sub === '' || typeof iat !== 'number' || typeof exp !== 'number') return NOT_A_JWT;
  return ok({ instanceId: sub, issuedAt: iat, expiresAt: exp });
}
