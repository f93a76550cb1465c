/** A logged request as policies see it. The log has no headers, no cookies and no query, so these are unknown. */
import { hostName } from '../../../../address/host-name.ts';
import { readPath } from '../../../../bytes/url-path.ts';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import type { PolicyRequest } from '../../../../policies/request.ts';

export const unloggedFields = ['header', 'cookie', 'query'] as const;

export function loggedRequest(record: VerdictRecord): PolicyRequest {
  return {
    host: hostName(record.host),
    method: record.method,
    paths: pathsOf(record.request_path),
    query: undefined,
    headers: undefined,
    cookie: undefined,
    ip: record.ip,
    asn: record.asn,
    country: record.country,
    ja4: record.ja4,
    userAgent: record.user_agent,
    deviceType: record.device_type,
    bot: record.bot ?? null,
    ipCategories: record.ip_category,
    sessionStatus: record.session_status,
    riskScore: record.risk_score,
    pathType: record.path_type,
  };
}

/** The path, and the others that an origin could read it as. An edge may log anything as one. */
export function pathsOf(received: string): PolicyRequest['paths'] {
  if (!received.startsWith('/')) return [received];
  const { path, readings } = readPath(received);
  return readings && [path, ...readings];
}
