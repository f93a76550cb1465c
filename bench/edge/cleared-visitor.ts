/** A visitor to measure with. */
import type { Stack } from '../../src/cli/stack.ts';
import { cookiesOf, solvedToken } from '../../test/e2e/edge-visitor.ts';
import { browse } from '../../test/support/browse.ts';
import { sessionCookieAt } from '../../test/support/edge-session.ts';
import type { RawWorker } from '../../test/support/raw-workerd.ts';
import { personsHeaders } from '../../test/support/session.ts';

/** Addresses of visitors, of which some must be in no rule. */
export const VISITORS = '203.0.113.0/24';

/** Headers of a visitor that no rule blocks, with a session and a clearance. */
export async function clearedVisitor(stack: Stack, edge: RawWorker): Promise<Record<string, string>> {
  const at = { ...stack, edgeUrl: edge.url };
  for (let last = 1; last < 250; last += 1) {
    const signed = {
      ...personsHeaders,
      'x-signals-secret': stack.signalsSecret,
      'x-client-ip': `203.0.113.${last}`,
      'x-client-asn': '64496',
      'x-client-country': 'DE',
    };
    const post = (path: string, body: object) =>
      browse(`${edge.url}/__protect/${path}`, {
        method: 'POST',
        headers: { ...signed, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
    const probe = await browse(`${edge.url}/page`, { headers: signed });
    await probe.arrayBuffer();
    if (probe.status !== 200) continue;
    const session = await sessionCookieAt(edge.url, signed);
    const token = await solvedToken(at, signed, { siteKey: stack.siteKey, action: 'clearance' });
    const clearance = cookiesOf(await post('verify', { token }));
    if (!session || !clearance) throw new Error(`No session (${session}) or no clearance (${clearance})`);
    return { ...signed, cookie: `${session}; ${clearance}` };
  }
  throw new Error('Every visitor is blocked by the generated rules');
}
