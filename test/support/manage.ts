import { eventually } from './eventually.ts';
import type { EdgeVersion } from '../../src/contract/edge/edge-responses.ts';
import type { StackFacts } from '../../src/cli/state.ts';

/** A management call with the seeded API key. */
export async function manage<Answer>(stack: StackFacts, path: string, body: object = {}): Promise<Answer> {
  const response = await fetch(`${stack.serviceUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
  return JSON.parse(text) as Answer;
}

/** Changes settings of the seeded site, and waits until the edge knows. */
export async function changeSite(stack: StackFacts, settings: object): Promise<void> {
  await manage(stack, '/sites/update', { siteKey: stack.siteKey, settings });
  await edgeIsUpToDate(stack);
}

/**
 * Waits until the edge has the configuration and the rules that the service has now. A request that is decided as expected
 * does not show that: an earlier configuration may decide it in the same way.
 */
export async function edgeIsUpToDate({ serviceUrl, edgeUrl, clientJwt, opsToken }: StackFacts): Promise<void> {
  const read = async <Answer>(url: string, token: string | undefined): Promise<Answer> => {
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    return (await response.json()) as Answer;
  };
  await eventually(
    async () => ({
      edge: await read<EdgeHealth>(`${edgeUrl}/__protect/health`, opsToken),
      service: await read<EdgeVersion>(`${serviceUrl}/edge/v1/version`, clientJwt),
    }),
    ({ edge, service }) =>
      edge.configVersion === service.configVersion && edge.ruleset?.version === service.delta.version,
  );
}

interface EdgeHealth {
  configVersion: string | null;
  ruleset: { version: number } | null;
}
