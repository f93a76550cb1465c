/** The variables that say how the service reaches directories of agents and the names of addresses. */
import { isLoopback } from '../contract/management/outbound-address.ts';
import { failed, ok, type Result } from '../result.ts';

export interface OutboundSettings {
  /** DNS over HTTPS, in JSON. */
  resolverUrl: string;
  /** Local servers in place of hosts, for tests and for a developer's machine: host → origin. */
  standIns: ReadonlyMap<string, string>;
  /** Whether servers of the same machine may be called, over http. Only the local stack allows it. */
  allowsLoopback: boolean;
}

const RESOLVER_URL = 'https://cloudflare-dns.com/dns-query';
const LOCAL = String.raw`http://(?:127\.0\.0\.1|localhost)(?::\d{1,5})?(?:/[\w.-]+)*`;
const resolverPattern = new RegExp(`^(?:https://[^/?#@\\s]+|${LOCAL})/[^?#\\s]*$`);
const standInPattern = new RegExp(`^([a-z\\d.-]+(?::\\d{1,5})?)=(${LOCAL})$`);

export interface OutboundVariables {
  resolver: string;
  /** `agent.test=http://127.0.0.1:9000`, separated by spaces. Only servers of the same machine. */
  standIns: string;
  /** `allow` or empty. */
  loopback: string;
  serviceUrl: string;
}

export function readOutbound(variables: OutboundVariables): Result<OutboundSettings, string> {
  const { resolver, standIns, loopback, serviceUrl } = variables;
  const resolverUrl = resolver || RESOLVER_URL;
  if (!resolverPattern.test(resolverUrl)) {
    return failed('DNS_RESOLVER_URL must be an https address without a query, such as https://dns.example/dns-query');
  }
  const entries = standIns.split(/\s+/).filter((entry) => entry !== '');
  const read = entries.map((entry) => standInPattern.exec(entry));
  if (read.includes(null)) {
    return failed('BOT_STAND_INS must be pairs like agent.test=http://127.0.0.1:9000; it is for tests only');
  }
  const url = URL.parse(serviceUrl);
  // A deployed service that calls its own machine would let every account reach what listens there.
  if (loopback !== '' && (loopback !== 'allow' || url === null || !isLoopback(url))) {
    return failed(
      'LOOPBACK_HOSTS can be "allow" where SERVICE_URL is an address of the same machine, and nowhere else',
    );
  }
  const allowsLoopback = loopback === 'allow';
  return ok({ allowsLoopback, resolverUrl, standIns: new Map(read.map((match) => [match![1]!, match![2]!] as const)) });
}
