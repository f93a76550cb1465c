/** The bearer token of the `Authorization` header (RFC 6750). Anything else is refused before a signature is checked. */
import { failed, ok, type Result } from '../../result.ts';
import type { CredentialError } from './service-error.ts';

export function bearerToken(request: Request): Result<string, CredentialError> {
  const value = request.headers.get('authorization')?.trim() ?? '';
  if (value === '') return failed({ kind: 'authorization-missing' });
  const token = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(value)?.[1];
  return token === undefined ? failed({ kind: 'authorization-malformed' }) : ok(token);
}
