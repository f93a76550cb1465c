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
