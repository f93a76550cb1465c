/**
 * A publisher of lists behind a stubbed `fetch`: every host name has a public address unless a test says otherwise, and
 * each request is answered by the test. Requests and their headers are kept.
 */
import { vi } from 'vitest';

export interface Publisher {
  requests: { url: string; headers: Headers }[];
  answer: (url: URL, headers: Headers) => Response | Promise<Response>;
  /** By the resolver. */
  addresses: (host: string) => string[];
}

/** Stands in for the network until the test ends. */
export function listPublisher(): Publisher {
  const made: Publisher = { requests: [], answer: () => new Response('1.2.3.4\n'), addresses: () => ['8.8.8.8'] };
  vi.stubGlobal('fetch', async (input: string, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(input);
    if (url.hostname === 'cloudflare-dns.com') {
      const isV4 = url.searchParams.get('type') === 'A';
      const found = isV4 ? made.addresses(url.searchParams.get('name') ?? '') : [];
      return Response.json({ Status: 0, Answer: found.map((data) => ({ type: 1, TTL: 60, data })) });
    }
    const headers = new Headers(init.headers);
    made.requests.push({ url: input, headers });
    return made.answer(url, headers);
  });
  return made;
}
