/** Requests of bots to the edge of a stack, and what the log says about them. */
import type { Stack } from '../../src/cli/stack.ts';
import { FIREFOX, browse } from '../support/browse.ts';
import { eventually, manage } from '../support/stack.ts';
import { signalsOf } from './edge-visitor.ts';

/** Of a hosting provider, as the edge's address categories have it. */
export const DATACENTER = '8075';
export const BING = {
  from: '157.55.39.1',
  agent: 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
};
export const PREVIEW = { from: '31.13.24.9', agent: 'facebookexternalhit/1.1' };
export const FEED = { from: '66.249.80.9', agent: 'Feedfetcher-Google; (+http://www.google.com/feedfetcher.html)' };
export const ELSEWHERE = '192.0.2.1';

/** Pages, files and calls without a session get nothing, so that only a proof opens them. */
export const closed = {
  enforcementPolicy: { html: { onPending: 'challenge' }, json: { onPending: 'challenge' } },
  botPolicy: { preset: 'open' },
};

export interface Visit {
  from: string;
  agent?: string;
  headers?: Record<string, string>;
  method?: string;
  asn?: string;
}
export interface Logged {
  bot: { id: string; proof: string } | null;
  decision: string;
  source: string;
  decided_by: string;
  request_path: string;
}

export function botVisits(stack: () => Stack) {
  let markers = 0;
  /** A request. The log has the rest. */
  async function visit({ from, agent = FIREFOX, headers = {}, method = 'GET', asn }: Visit, path = '/echo') {
    const signals = signalsOf(stack(), { from, ...(asn === undefined ? {} : { asn }) });
    const response = await browse(stack().edgeUrl + path, {
      method,
      headers: { ...signals, 'user-agent': agent, ...headers },
    });
    await response.arrayBuffer();
    return { status: response.status, headers: response.headers, id: response.headers.get('x-protect-request-id') };
  }
  /** What the log says of the requests to a path and those below it. */
  async function logOf(path: string, count: number): Promise<Logged[]> {
    const query = { requestPath: `${path}*`, limit: 1000 };
    const found = await eventually(
      () => manage<{ verdicts: Logged[] }>(stack(), '/protect/verdicts', query),
      ({ verdicts }) => verdicts.length >= count,
    );
    return found.verdicts;
  }
  async function logged(requestId: string | null): Promise<Logged> {
    const found = await eventually(
      () => manage<{ verdicts: Logged[] }>(stack(), '/protect/verdicts', { requestId }),
      ({ verdicts }) => verdicts.length === 1,
    );
    return found.verdicts[0]!;
  }
  /** Visits until the log says so: the table of bots, names and keys come to the edge behind responses. */
  async function until(from: Visit, proof: string, path = '/echo') {
    return eventually(
      async () => {
        const { id, status } = await visit(from, path);
        return { status, record: await logged(id) };
      },
      ({ record }) => record.bot?.proof === proof,
    );
  }
  /** The policy is in force once a path that only it closes is blocked. */
  async function policy(members: object): Promise<void> {
    const marker = `marker-${(markers += 1)}`;
    await manage(stack(), '/protect/instances/update', {
      id: stack().instanceId,
      monitor: false,
      ipCategoryRules: {},
      enforcementPolicy: { html: { onPending: 'pass' } },
      botPolicy: {},
      ...members,
      pathRules: [{ pattern: `/${marker}`, action: 'block' }],
    });
    await eventually(
      () => visit({ from: '192.0.2.9' }, `/${marker}`),
      ({ headers }) => headers.get('x-protect-decision') === 'block',
    );
  }
  /** A management call whose answer is not JSON, or a refusal. */
  const call = (path: string, body: object): Promise<Response> =>
    fetch(`${stack().serviceUrl}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${stack().apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  return { visit, logOf, logged, until, policy, call };
}
