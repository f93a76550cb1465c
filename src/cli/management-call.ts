/** Calls of the management API from the command line: of the running local stack, or of a deployed service. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StackFacts } from './state.ts';

/** What every command over the management API takes. */
export const targetFlags = { 'site-key': 'KEY', service: 'URL' } as const;

export interface Target {
  serviceUrl: string;
  apiKey: string;
  siteKey: string | undefined;
}

/** Its message is for the operator: what is wrong and what to do. */
export class CallError extends Error {
  /** The service refuses the call, and would refuse it again. */
  readonly isRefusal: boolean;
  constructor(message: string, isRefusal = false) {
    super(message);
    this.isRefusal = isRefusal;
  }
}

/** @throws CallError where no stack runs, or the service's key is missing. */
export function targetOf(service: string | undefined, siteKey: string | undefined, stateDir: string): Target {
  if (service !== undefined) {
    const apiKey = process.env['GATEHOUSE_API_KEY'];
    if (!apiKey)
      throw new CallError(
        'GATEHOUSE_API_KEY is not set. Set it to an API key with the permission updateProtectSettings, or readProtect to read.',
      );
    return { serviceUrl: service.replace(/\/$/, ''), apiKey, siteKey };
  }
  try {
    const stack = JSON.parse(readFileSync(join(stateDir, 'stack.json'), 'utf8')) as StackFacts;
    return { serviceUrl: stack.serviceUrl, apiKey: stack.apiKey, siteKey };
  } catch {
    throw new CallError(`No local stack runs on ${stateDir}. Start one with npm start, or add --service URL.`);
  }
}

export async function call(target: Target, path: string, body: object): Promise<unknown> {
  return (await post(target, path, body)).json();
}

/** @throws CallError with the service's message when it refuses. */
export async function post(target: Target, path: string, body: object): Promise<Response> {
  const response = await fetch(`${target.serviceUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${target.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, siteKey: target.siteKey }),
  }).catch((error: unknown) => {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    throw new CallError(
      `${target.serviceUrl} cannot be reached. Check the URL and that the service runs. ${String(cause)}`,
    );
  });
  if (response.ok) return response;
  const isRefusal = response.status < 500 && response.status !== 429;
  throw new CallError(
    `The service refused ${path} with status ${response.status}: ${await response.text()}`,
    isRefusal,
  );
}
