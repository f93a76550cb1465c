/** An account with an active instance and its client JWT, for tests of the access rule endpoints. */
import { call, newAccount, send } from './service/service-under-test.ts';

let instances = 0;

/** `rules` calls an access rule endpoint of the instance. */
export async function newInstance() {
  const { token, site } = await newAccount();
  return instanceOf(token, site.siteKey);
}

/** Another instance of the same account, with a site of its own. */
export async function anotherInstance(token: string) {
  const site = await call(token, '/sites/create', {
    name: `beside-${instances}`,
    settings: { domains: ['example.com'] },
  });
  return instanceOf(token, site.body.siteKey as string);
}

async function instanceOf(token: string, siteKey: string) {
  instances += 1;
  const made = await call(token, '/protect/instances/create', {
    name: 'Shop',
    cname: `rules${instances}.example.com`,
    globalSiteKey: siteKey,
    monitor: false,
  });
  const jwt = await call(token, '/protect/client-jwt/generate', { protectInstanceId: made.body.id, expiresInWeeks: 1 });
  return {
    token,
    id: made.body.id as string,
    siteKey,
    jwt: jwt.body.clientJwt as string,
    rules: (operation: string, body: unknown) => call(token, `/protect/access-rules${operation}`, body),
  };
}

export function asEdge(jwt: string, path: string, headers: Record<string, string> = {}): Promise<Response> {
  return send(path, { headers: { authorization: `Bearer ${jwt}`, ...headers } });
}

/** Sends verdict records as an edge does. */
export function sendVerdicts(jwt: string, batchId: string, records: object[]): Promise<Response> {
  return send('/edge/v1/verdicts', {
    method: 'POST',
    headers: { authorization: `Bearer ${jwt}`, 'content-type': 'application/json' },
    body: JSON.stringify({ batchId, records }),
  });
}

export const values = (body: any): string[] => body.rules.map((rule: { value: string }) => rule.value);
