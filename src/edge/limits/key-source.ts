/** What limits count by, as a request shows it. */
import { hostName } from '../../address/host-name.ts';
import { type KeySource, pathKey } from '../../limits/limit-keys.ts';
import { readCookie } from '../request/cookies.ts';
import type { RequestFacts } from '../request/facts.ts';

/** `jti`: of the session, else of the clearance. A form's users are added where a limit counts by them. */
export function keySourceOf(
  { request, target, headers, signals }: RequestFacts,
  jti: string | null,
  bot: string | null,
): KeySource {
  return {
    ip: signals.ip,
    asn: signals.asn,
    country: signals.countryCode,
    ja4: signals.ja4,
    session: jti,
    bot,
    path: pathKey([target.path, ...(target.readings ?? [])]),
    host: hostName(target.host),
    header: (name) => request.headers.get(name),
    cookie: (name) => readCookie(headers.cookie, name),
    users: [],
  };
}
