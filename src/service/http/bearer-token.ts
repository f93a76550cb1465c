/**
 * The `Authorization` header's bearer token (RFC 6750). Anything else in it is refused before a
 * signature is even looked at.
 */
import { ApiError } from './api-error.ts';

export function bearerToken(request: Request): string {
  const value = request.headers.get('authorization');
  if (value === null || value.trim() === '') {
    throw new ApiError('API.MISSING_AUTHORIZATION_HEADER', 'Send the header Authorization: Bearer <token>');
  }
  const match = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(value.trim());
  if (!match?.[1]) throw new ApiError('API.UNAUTHORIZED', 'The Authorization header must read: Bearer <token>');
  return match[1];
}
