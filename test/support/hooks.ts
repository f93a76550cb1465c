/**
 * Receivers of alerts behind a stubbed `fetch`: every host name has a public address, and each receives what is posted to
 * it. A receiver can be told how to answer.
 */
import { vi } from 'vitest';

export interface Received {
  url: string;
  headers: Headers;
  body: string;
}

export interface Hooks {
  received: Received[];
  /** How a post is answered; 204 unless a test says otherwise. */
  answer: (post: Received) => Response | Promise<Response>;
  /** Addresses of the host, by the resolver. */
  addresses: (host: string) => string[];
}

/** Stands in for the network until the test ends. */
export function hooks(): Hooks {
  const made: Hooks = {
    received: [],
    answer: () => new Response(null, { status: 204 }),
    addresses: () => ['8.8.8.8'],
  };
  vi.stubGlobal(
    'fetch',
    async (input: string, init: Omit<RequestInit, 'body'> & { body?: string } = {}): Promise<Response> => {
      const url = new URL(input);
      if (url.hostname === 'cloudflare-dns.com') {
        const isV4 = url.searchParams.get('type') === 'A';
        const found = isV4 ? made.addresses(url.searchParams.get('name') ?? '') : [];
        return Response.json({ Status: 0, Answer: found.map((data) => ({ type: 1, TTL: 60, data })) });
      }
      const post = { url: input, headers: new Headers(init.headers), body: init.body ?? '' };
      made.received.push(post);
      return made.answer(post);
    },
  );
  return made;
}
