/**
 * Puts the examples of docs/api-examples.json into the OpenAPI document: one request and one response for each operation.
 * The page of the API makes its code samples from them.
 */
import { existsSync, readFileSync } from 'node:fs';

type Json = Record<string, unknown>;

interface Example {
  operation: string;
  path: string;
  request?: unknown;
  contentType: string;
  response: unknown;
}
interface Operation {
  operationId: string;
  parameters?: Json[];
  requestBody?: { content: Record<string, Json> };
  responses: Record<string, { content?: Record<string, Json> }>;
}

const file = new URL('../docs/api-examples.json', import.meta.url);

/** An operation that has no example yet stays as it is, and a test names it. */
export function addExamples(paths: Record<string, Json>): void {
  const examples = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Example[]) : [];
  const byName = new Map(examples.map((example) => [example.operation, example]));
  for (const operation of Object.values(paths).flatMap((item) => Object.values(item) as Operation[])) {
    const example = byName.get(operation.operationId);
    if (example === undefined) continue;
    // Bodies of other types have the same fields.
    const request = Object.values(operation.requestBody?.content ?? {})[0];
    if (request !== undefined && example.request !== undefined) request['examples'] = exampleOf(example.request);
    const success = operation.responses[200];
    const response = success?.content?.[example.contentType];
    // Operations share objects, so a changed one is a new one.
    if (success !== undefined && response !== undefined) {
      const answered = { ...response, examples: exampleOf(example.response) };
      const content = { ...success.content, [example.contentType]: answered };
      operation.responses = { ...operation.responses, 200: { ...success, content } };
    }
    const query = new URLSearchParams(example.path.split('?')[1]);
    for (const parameter of operation.parameters ?? []) {
      const value = query.get(String(parameter['name']));
      if (value !== null) parameter['example'] = value;
    }
  }
}

function exampleOf(value: unknown): Json {
  return { recorded: { value } };
}
