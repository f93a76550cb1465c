/** The examples of docs/api-examples.json, made from a walk through the API. */
import { readFileSync, writeFileSync } from 'node:fs';
import { entryLines } from '../../../scripts/compact-json.ts';
import type { Stack } from '../../../src/cli/stack.ts';
import { ShownValues } from './shown-values.ts';
import { walkThroughApi } from './tour.ts';
import { stackNow } from '../clock.ts';

export const EXAMPLES_PATH = 'docs/api-examples.json';

export interface ApiExample {
  operation: string;
  method: string;
  path: string;
  /** Missing where the call has no body. */
  request?: unknown;
  contentType: string;
  response: unknown;
}
export interface ApiDocument {
  paths: Record<string, Record<string, { operationId: string }>>;
}

export async function makeExamples(stack: Stack, document: ApiDocument): Promise<ApiExample[]> {
  const values = new ShownValues(stack, stackNow());
  const calls = await walkThroughApi(stack);
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { operationId }]) => {
      const call = calls.get(`${method} ${path}`);
      if (call === undefined) return [];
      const request = typeof call.request === 'string' ? formOf(call.request) : call.request;
      return {
        operation: operationId,
        method,
        path: values.shown(call.path) as string,
        ...(request === undefined ? {} : { request: values.shown(request) }),
        contentType: call.contentType,
        response: values.shown(call.response),
      };
    }),
  );
}

function formOf(text: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(text));
}

export function readExamples(): ApiExample[] {
  return JSON.parse(readFileSync(EXAMPLES_PATH, 'utf8')) as ApiExample[];
}

export function writeExamples(examples: readonly ApiExample[]): void {
  writeFileSync(EXAMPLES_PATH, `${entryLines(examples, 1)}\n`);
}
