/** The variables that say how the service reaches directories of agents and the names of addresses. */
import { failed, ok, type Result } from '../result.ts';

export interface OutboundSettings {
  /** DNS over HTTPS, in JSON. */
  resolverUrl: string;
  /** Local servers in place of hosts, for tests and for a developer's machine: host → origin. */
  standIns: ReadonlyMap<string, string>;
}

const RESOLVER_URL = 'https://cloudflare-dns.com/dns-query';
const LOCAL = String.raw`http://(?:127\.0\.0\.1|localhost)(?::\d{1,5})?(?:/[\w.-]+)*`;
const resolverPattern = new RegExp(`^(?:https://[^/?#@\\s]+|${LOCAL})/[^?#\\s]*$`);
const standInPattern = new RegExp(`^([a-z\\d.-]+(?::\\d{1,5})?)=(${LOCAL})$`);

/** `standIns`: `agent.test=http://127.0.0.1:9000`, separated by spaces. Only servers of the same machine. */
export function readOutbound(resolver: string, standIns: string): Result<OutboundSettings, string> {
  const resolverUrl = resolver || RESOLVER_URL;
  if (!resolverPattern.test(resolverUrl)) {
    return failed('DNS_RESOLVER_URL must be an https address without a query, such as https://dns.example/dns-query');
  }
  const entries = standIns.split(/\s+/).filter((entry) => entry !== '');
  const read = entries.map((entry) => standInPattern.exec(entry));
  if (read.includes(null)) {
    return failed('BOT_STAND_INS must be pairs like agent.test=http://127.0.0.1:9000; it is for tests only');
  }
  return ok({ resolverUrl, standIns: new Map(read.map((match) => [match![1]!, match![2]!] as const)) });
}
