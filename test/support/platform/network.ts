/**
 * The internet of a deployment test: hosts that the stand-in routes to uploaded Workers. `cheapHosts` answers as the two
 * Workers do where their code does not matter: only with the right route, domain, secrets and registered credential.
 */
import { decodeJwt } from 'jose';
import type { Platform } from './platform.ts';

/** `null`: the host is not on this internet. */
export type Hosts = (url: URL, init: RequestInit | undefined) => Promise<Response | null>;

/** A `fetch` for which the hosts exist. `local` calls this machine. */
export function fetchWith(hosts: Hosts, local: typeof fetch): typeof fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.protocol === 'http:' && url.hostname === '127.0.0.1') return local(input, init);
    const response = await hosts(url, init);
    if (response === null) throw new TypeError('fetch failed', { cause: new Error(`no host ${url.host}`) });
    return response;
  };
}

export function cheapHosts(platform: Platform): Hosts {
  const logged = new Set<string>();
  const service = (url: URL, body: string): Response | null => {
    const domain = platform.account.domains.find(({ hostname }) => hostname === url.host);
    if (!platform.account.scripts.get(domain?.service ?? '')?.secrets.has('MASTER_KEY')) return null;
    if (url.pathname === '/health') return Response.json({ status: 'ok' });
    const { requestId } = JSON.parse(body) as { requestId?: string };
    return Response.json({ total: requestId !== undefined && logged.has(requestId) ? 1 : 0 });
  };
  return async (url, init) => {
    const own = service(url, typeof init?.body === 'string' ? init.body : '{}');
    if (own !== null) return own;
    for (const zone of platform.state.zones) {
      const route = zone.routes.find(({ pattern }) => pattern === `${url.host}/*`);
      const jwt = platform.account.scripts.get(route?.script ?? '')?.secrets.get('CLIENT_JWT');
      if (jwt === undefined || !(await isRegistered(platform, jwt))) continue;
      const reference = crypto.randomUUID();
      logged.add(reference);
      return new Response('', { headers: { 'x-protect-request-id': reference } });
    }
    return null;
  };
}

async function isRegistered(platform: Platform, jwt: string): Promise<boolean> {
  const sql = 'SELECT jti FROM client_jwts WHERE jti = ? AND revoked_at IS NULL';
  const [answer] = await platform.account.databases[0]!.engine.run([{ sql, params: [decodeJwt(jwt).jti] }]);
  return answer!.results.length === 1;
}
