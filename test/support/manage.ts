import { eventually } from './eventually.ts';
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
  const configVersion = async (): Promise<string | null> => {
    const response = await fetch(`${stack.edgeUrl}/__protect/health`, {
      headers: { authorization: `Bearer ${stack.opsToken}` },
    });
    return ((await response.json()) as { configVersion: string | null }).configVersion;
  };
  const before = await eventually(configVersion, (version) => version !== null);
  await manage(stack, '/sites/update', { siteKey: stack.siteKey, settings });
  await eventually(configVersion, (version) => version !== before);
}
