/** The edge's client of a service that a test answers for. */
import type { LimitSums } from '../../src/contract/edge/limits.ts';
import { ServiceClient } from '../../src/edge/feed/service-client.ts';
import type { Asked } from '../../src/edge/feed/upstream.ts';
import { failed, ok } from '../../src/result.ts';

/** An answer, or none in time where it is `null`. */
export function serviceSaid<Answer>(answer: Answer | null): Asked<Answer> {
  return answer === null ? failed({ kind: 'unreachable' }) : ok(answer);
}

/** `respond`: to the path with its query, and the body as text. */
export function serviceThat(
  respond: (path: string, body: string) => Response | Promise<Response>,
  count: (name: string) => void = () => undefined,
): ServiceClient {
  const fetcher = {
    async fetch(request: Request): Promise<Response> {
      const { pathname, search } = new URL(request.url);
      return respond(pathname + search, await request.text());
    },
  };
  return new ServiceClient({
    serviceUrl: 'https://service.test',
    service: fetcher,
    clientJwt: 'jwt',
    count,
  });
}

/** What a ledger says to a report: the sums, that it will never take it, or nothing in time. */
export type SaidOfReport = LimitSums | 'refused' | null;

export function reportAnswered(said: SaidOfReport): Asked<LimitSums> {
  return said === 'refused' ? failed({ kind: 'refused', status: 400 }) : serviceSaid(said);
}
