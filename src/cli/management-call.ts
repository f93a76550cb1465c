/** Calls of the management API from the command line: of the running local stack, or of a deployed service. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { parseJson } from '../bytes/json.ts';
import { OperatorError } from './operator-error.ts';
import type { StackFacts } from './state.ts';

/** The slowest call, a large import, takes a few seconds. */
const ANSWERS_WITHIN_MS = 120_000;

const envelope = z.object({
  error: z.object({
    message: z.string(),
    key: z.string(),
    details: z._default(z.array(z.object({ path: z.string(), message: z.string() })), []),
  }),
});

/** What every command over the management API takes. */
export const targetFlags = { 'site-key': 'KEY', service: 'URL' } as const;

export interface Target {
  serviceUrl: string;
  apiKey: string;
  siteKey: string | undefined;
}

/** Its message is for the operator: what is wrong and what to do. */
export class CallError extends OperatorError {
  /** The service refuses the call, and would refuse it again. */
  readonly isRefusal: boolean;
  constructor(message: string, isRefusal = false) {
    super(message);
    this.isRefusal = isRefusal;
  }
}

type Texts = Readonly<Record<string, string | undefined>>;

/** `flags`: of the command. @throws CallError where no stack runs, or the service's key is missing. */
export function targetOf(flags: Texts, stateDir: string, env: Texts): Target {
  const { service, 'site-key': siteKey } = flags;
  if (service !== undefined) {
    const apiKey = env['GATEHOUSE_API_KEY'];
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
  const answer = parseJson(await (await post(target, path, body)).text());
  if (answer === null) throw notAService(target, 'Its response is not JSON.');
  return answer;
}

/** @throws CallError with the service's message when it refuses, or when no service is at the URL. */
export async function post(target: Target, path: string, body: object): Promise<Response> {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), ANSWERS_WITHIN_MS);
  const response = await fetch(`${target.serviceUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${target.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, siteKey: target.siteKey }),
    // A redirected POST becomes a GET, and may lead to another host.
    redirect: 'manual',
    signal: silent.signal,
  })
    .catch((error: unknown) => {
      if (silent.signal.aborted)
        throw new CallError(
          `${target.serviceUrl} did not respond within ${ANSWERS_WITHIN_MS / 1000} seconds. Check the URL and that the service runs.`,
        );
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      throw new CallError(
        `${target.serviceUrl} cannot be reached. Check the URL and that the service runs. ${String(cause)}`,
      );
    })
    .finally(() => clearTimeout(timer));
  const { status, headers } = response;
  if (status >= 300 && status < 400)
    throw notAService(target, `It redirects to ${headers.get('location') ?? 'nowhere'}.`);
  if (response.ok) {
    if (/^text\/html\b/i.test(headers.get('content-type') ?? '')) throw notAService(target, 'It returned a page.');
    return response;
  }
  const refused = envelope.safeParse(parseJson(await response.text()));
  if (!refused.success) throw notAService(target, `It returned status ${status} without the service's error.`);
  const { message, key, details } = refused.data.error;
  const lines = details.map((detail) => `\n  ${detail.path}: ${detail.message}`).join('');
  const isRefusal = status < 500 && status !== 429;
  throw new CallError(`The service refused ${path} with status ${status}, ${key}: ${message}${lines}`, isRefusal);
}

/** For example the gate's own address, another site, or a page of a proxy in front of the service. */
function notAService({ serviceUrl }: Target, what: string): CallError {
  return new CallError(`${serviceUrl} does not respond as a Gatehouse service. Check the URL. ${what}`);
}
