/** The name of a host, as policies, limits and the list of hosts compare it. Pure. */

/** Without the port and the final dot of a full name. An IPv6 literal keeps its brackets. */
export function hostName(host: string): string {
  return host.toLowerCase().replace(/\.?(?::\d+)?$/, '');
}
