/**
 * The journeys of a request that the tracer follows. Each has a new isolate, which has loaded config, rules and bots
 * before, and has judged another visitor with them.
 */
import { decodeBase64url } from '../../src/bytes/base64url.ts';
import { visitorBinding } from '../../src/address/visitor-binding.ts';
import { mintSessionJwt } from '../../src/risk/session-token.ts';
import { navigation } from '../../test/support/browse.ts';
import { type Call, callsOf } from './calls.ts';
import { BLOCKED_IP, CHALLENGED_IP, type Edge, INSTANCE, keys, NOW_MS, SITE, startEdge, type Visit } from './edge.ts';

interface Journey {
  title: string;
  ip: string;
  path: string;
  /** The request, after what comes before it. */
  request: (edge: Edge) => Promise<Visit> | Visit;
  /** The status of the response. */
  status: number;
}

const PERSON_IP = '192.0.2.1';
const OTHER_IP = '198.51.100.1';
const FORM_PATH = '/contact';

const form = (fields: Record<string, string>): Visit => ({
  method: 'POST',
  headers: { ...navigation, 'sec-fetch-site': 'same-origin', origin: SITE },
  body: new URLSearchParams(fields),
});

export const journeys: Readonly<Record<string, Journey>> = {
  'allowed-get': {
    title: 'A page for a visitor with a session',
    ip: PERSON_IP,
    path: '/',
    request: async () => ({ headers: { ...navigation, cookie: await sessionCookie(PERSON_IP) } }),
    status: 200,
  },
  block: {
    title: 'A page for a visitor whom a rule blocks',
    ip: BLOCKED_IP,
    path: '/',
    request: () => ({ headers: navigation }),
    status: 403,
  },
  challenge: {
    title: 'A page for a visitor whom a rule challenges',
    ip: CHALLENGED_IP,
    path: '/',
    request: () => ({ headers: navigation }),
    status: 403,
  },
  'challenged-post': {
    title: 'A form that is challenged and held',
    ip: CHALLENGED_IP,
    path: FORM_PATH,
    request: () => form({ message: 'hello' }),
    status: 403,
  },
  'returned-post': {
    title: 'A held form that comes back after the challenge',
    ip: CHALLENGED_IP,
    path: FORM_PATH,
    request: returnedForm,
    status: 200,
  },
  'verified-post': {
    title: 'A form with a token that is verified',
    ip: CHALLENGED_IP,
    path: FORM_PATH,
    request: () => form({ message: 'hello', 'captcha-response': 'token' }),
    status: 200,
  },
};

/** The calls from the arrival of the request to its response and record. */
export async function trace({ ip, path, request, status }: Journey): Promise<readonly Call[]> {
  const edge = await startEdge();
  // The first one loads the table of bots behind its response.
  for (const page of ['/first', '/second']) {
    await edge.fetch(page, OTHER_IP, { headers: navigation });
    await edge.settled();
  }
  const visit = await request(edge);
  let response: Response | undefined;
  const calls = await callsOf(async () => {
    response = await edge.fetch(path, ip, visit);
  });
  if (response?.status !== status) throw new Error(`The response is ${response?.status}, not ${status}`);
  await edge.settled();
  return calls;
}

async function sessionCookie(ip: string): Promise<string> {
  const jti = 'session-1';
  const iat = NOW_MS / 1000;
  const bnd = await visitorBinding(ip, navigation['user-agent']);
  const claims = { jti, sub: INSTANCE, iat, exp: iat + 300, sxp: iat + 3600, risk: 0, bnd };
  return `protect_session=${jti}|${await mintSessionJwt(decodeBase64url(keys.session)!, keys.kid, claims)}`;
}

/** The form is held, the visitor buys clearance with their token, and the page sends the form again. */
async function returnedForm(edge: Edge): Promise<Visit> {
  const page = await (await edge.fetch(FORM_PATH, CHALLENGED_IP, form({ message: 'hello' }))).text();
  const seal = /name="seal" value="([^"]+)"/.exec(page)?.[1];
  const bought = await edge.fetch('/__protect/verify', CHALLENGED_IP, {
    method: 'POST',
    headers: { ...navigation, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
    body: JSON.stringify({ token: 'token' }),
  });
  const [cookie = ''] = bought.headers.getSetCookie().map((line) => line.split(';', 1)[0]!);
  const { headers } = form({});
  return { method: 'POST', headers: { ...headers, 'content-type': 'text/plain', cookie }, body: `seal=${seal}\r\n` };
}
