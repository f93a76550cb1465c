/**
 * The visitors of the bot's-eye view, and how one of them is sent through the gate. The shop's server sends them, since
 * no browser can send another program's headers, and only to the gate in front of it.
 */
import { request as httpRequest } from 'node:http';
import { header } from '../../contract/edge/headers.ts';
import { DEMO_EMAIL } from './visit.ts';

const SHOWN_BYTES = 4096;
const TIMEOUT_MS = 10_000;
/** Enough for a limit of the console's proposals to be reached, and done in a second. */
const FLOOD_REQUESTS = 40;
const GUESSES = 12;

export interface Client {
  id: string;
  name: string;
  about: string;
  method: 'GET' | 'POST';
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
  times: number;
}

const FIREFOX = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:148.0) Gecko/20100101 Firefox/148.0',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-language': 'en-US,en;q=0.5',
  'accept-encoding': 'identity',
  'sec-fetch-dest': 'document',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-site': 'none',
  'sec-fetch-user': '?1',
  'upgrade-insecure-requests': '1',
};

export const clients: readonly Client[] = [
  {
    id: 'browser',
    name: 'A browser’s first page',
    about: 'A person who was never here: the headers of a browser, no cookie.',
    method: 'GET',
    path: '/',
    headers: FIREFOX,
    times: 1,
  },
  {
    id: 'curl',
    name: 'curl',
    about: 'A script that copies pages. It runs no JavaScript and keeps no cookie.',
    method: 'GET',
    path: '/products/reading-lamp',
    headers: { 'user-agent': 'curl/8.14.1', accept: '*/*' },
    times: 1,
  },
  {
    id: 'googlebot',
    name: 'A false Googlebot',
    about: 'It says that it is Google, and comes from a network that is not Google’s.',
    method: 'GET',
    path: '/',
    headers: {
      'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
      accept: 'text/html,application/xhtml+xml',
    },
    times: 1,
  },
  {
    id: 'headless',
    name: 'A driven browser',
    about: 'Headless Chrome that forgot to hide its name.',
    method: 'GET',
    path: '/search?q=lamp',
    headers: {
      'user-agent':
        'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/146.0.0.0 Safari/537.36',
      accept: 'text/html',
      'accept-language': 'en-US',
    },
    times: 1,
  },
  {
    id: 'flood',
    name: 'A flood on the API',
    about: `${FLOOD_REQUESTS} calls in a row for the price list, without a session.`,
    method: 'GET',
    path: '/api/products',
    headers: { 'user-agent': 'price-watch/2.1', accept: 'application/json' },
    times: FLOOD_REQUESTS,
  },
  {
    id: 'guesser',
    name: 'A password guesser',
    about: `${GUESSES} passwords for one account, one after the other.`,
    method: 'POST',
    path: '/login',
    headers: { ...FIREFOX, 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
    body: `email=${encodeURIComponent(DEMO_EMAIL)}&password=guess`,
    times: GUESSES,
  },
];

export interface ClientAnswer {
  status: number;
  decision: string | null;
  reference: string | null;
  contentType: string;
  /** The beginning of the body. */
  text: string;
}

export interface ClientOutcome {
  /** Of the last request. */
  last: ClientAnswer;
  /** How many requests got each status and decision, in the order of their first. */
  counts: readonly { status: number; decision: string | null; requests: number }[];
}

/** Sends the client's requests to the gate, one after the other. */
export async function sendAs(client: Client, gateUrl: string): Promise<ClientOutcome> {
  const counts = new Map<string, { status: number; decision: string | null; requests: number }>();
  let last: ClientAnswer | null = null;
  for (let sent = 0; sent < client.times; sent += 1) {
    last = await sendOnce(client, gateUrl);
    const { status, decision } = last;
    const key = `${status} ${decision ?? ''}`;
    const count = counts.get(key) ?? { status, decision, requests: 0 };
    counts.set(key, { ...count, requests: count.requests + 1 });
  }
  if (last === null) throw new Error('The client sends no request');
  return { last, counts: [...counts.values()] };
}

function sendOnce({ method, path, headers, body }: Client, gateUrl: string): Promise<ClientAnswer> {
  return new Promise((resolve, reject) => {
    const call = httpRequest(
      new URL(path, gateUrl),
      { method, headers, agent: false, timeout: TIMEOUT_MS },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => {
          if (text.length < SHOWN_BYTES) text += chunk.slice(0, SHOWN_BYTES - text.length);
        });
        answer.on('error', reject);
        answer.on('end', () => {
          const said = (name: string): string | null => {
            const value = answer.headers[name];
            return typeof value === 'string' ? value : null;
          };
          resolve({
            status: answer.statusCode ?? 0,
            decision: said(header.decision),
            reference: said(header.requestId),
            contentType: said('content-type') ?? '',
            text,
          });
        });
      },
    );
    call.on('timeout', () => call.destroy(new Error('The gate did not answer in time')));
    call.on('error', reject);
    call.end(body);
  });
}

/** The same request for a terminal, with every header that curl does not send by itself. Every value is a constant of this file without a quote in it. */
export function curlCommand({ method, path, headers, body, times }: Client, gateUrl: string): string {
  const url = `'${new URL(path, gateUrl).href}'`;
  const { 'user-agent': userAgent = '', ...others } = headers;
  const parts = [
    'curl -i',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...(userAgent.startsWith('curl/') ? [] : [`-A '${userAgent}'`]),
    ...Object.entries(others)
      .filter(([name, value]) => name !== 'accept' || value !== '*/*')
      .map(([name, value]) => `-H '${name}: ${value}'`),
    ...(body === undefined ? [] : [`-d '${body}'`]),
    url,
  ];
  const line = parts.join(' ');
  return times === 1
    ? line
    : `for i in $(seq ${times}); do ${line.replace('curl -i', "curl -s -o /dev/null -w '%{http_code}\\n'")}; done`;
}
