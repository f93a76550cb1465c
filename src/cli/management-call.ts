/** Calls of the management API from the command line: of the running local stack, or of a deployed service. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { parseJson } from '../bytes/json.ts';
import type { GetPath, GetResponseOf, PathsWith, ResponseOf } from '../console/api/service-api.ts';
import { VERSION_HEADER } from '../contract/version.ts';
import { OperatorError } from './failure.ts';
import { readLogin } from './saved-login.ts';
import { startCommand } from './print/printed-command.ts';

/** The slowest call, a large import, takes a few seconds. */
const ANSWERS_WITHIN_MS = 120_000;

const envelope = z.object({
  error: z.object({
    message: z.string(),
    key: z.string(),
    details: z._default(z.array(z.object({ path: z.string(), message: z.string() })), []),
  }),
});

const runningStackFacts = z.object({ serviceUrl: z.string(), apiKey: z.string() });

type Method = 'GET' | 'POST' | 'PUT';

export interface ServiceTarget {
  serviceUrl: string;
  apiKey: string;
  siteKey: string | undefined;
  /** No flag names it. */
  isSavedLogin?: true;
  /** Gets the version of the service with each response. */
  heardVersion?(version: string | null): void;
  /** Ends a call before its response. */
  signal?: AbortSignal;
}

/** Its message is for the operator: what is wrong and what to do. */
export class CallError extends OperatorError {
  /** The service refuses the call, and would refuse it again. */
  readonly isRefusal: boolean;
  /** Of the response, where there was one. */
  readonly status: number | null;
  constructor(message: string, isRefusal = false, status: number | null = null) {
    super(message);
    this.isRefusal = isRefusal;
    this.status = status;
  }
}

type Texts = Readonly<Record<string, string | undefined>>;

interface Place {
  state: string;
  /** `--state` was given. */
  isStateGiven: boolean;
  env: Texts;
  /** A checkout, where a command without flags may be meant for a local stack that does not run now. */
  hasRepository: boolean;
}

/** `flags`: of the command. @throws OperatorError where nothing says which service to call, or with which key. */
export function serviceTarget(flags: Texts, { state, isStateGiven, env, hasRepository }: Place): ServiceTarget {
  const { service, 'site-key': siteKey } = flags;
  if (service !== undefined) {
    const serviceUrl = checkedServiceUrl(service);
    const fromEnv = env['GATEHOUSE_API_KEY'];
    const saved = fromEnv === undefined || fromEnv === '' ? readLogin(env) : null;
    const apiKey = saved?.serviceUrl === serviceUrl ? saved.apiKey : fromEnv;
    if (apiKey) return { serviceUrl, apiKey, siteKey };
    throw new CallError(
      'GATEHOUSE_API_KEY is not set. Set it to an API key with the permission updateProtectSettings, or readProtect to read.',
    );
  }
  const stack = runningStack(state);
  if (stack !== null) return { ...stack, siteKey };
  // A folder that was named is never replaced by another Gatehouse.
  const saved = isStateGiven ? null : readLogin(env);
  if (saved !== null && hasRepository)
    throw new CallError(
      `No local stack runs on ${state}. Start one with ${startCommand(state)}, or add --service ${saved.serviceUrl} for the saved login.`,
    );
  if (saved !== null) return { ...saved, siteKey, isSavedLogin: true };
  throw new CallError(
    `No local stack runs on ${state}. Start one with ${startCommand(state)}, add --service URL, or log in once with: gatehouse login --service URL`,
  );
}

function runningStack(state: string): { serviceUrl: string; apiKey: string } | null {
  let text: string;
  try {
    text = readFileSync(join(state, 'stack.json'), 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new CallError(`${join(state, 'stack.json')} cannot be read. Check its permissions. ${String(code)}`);
  }
  const read = runningStackFacts.safeParse(parseJson(text));
  if (read.success) return { serviceUrl: read.data.serviceUrl, apiKey: read.data.apiKey };
  throw new CallError(
    `${join(state, 'stack.json')} is damaged. Stop the stack and start it again with ${startCommand(state)}.`,
  );
}

/** Without the slash at the end. An API key is never sent over a network that can read it. */
export function checkedServiceUrl(text: string): string {
  const url = URL.parse(text);
  const isHttp = url?.protocol === 'https:' || url?.protocol === 'http:';
  if (url === null || !isHttp || url.username !== '' || url.search !== '' || url.hash !== '')
    throw new CallError(`${text} is not the URL of a service. Use one such as https://gatehouse.example.com.`);
  const isHere = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (url.protocol === 'http:' && !isHere)
    throw new CallError(`${text} would carry the API key unencrypted. Use https.`);
  return url.href.replace(/\/+$/, '');
}

/** What the service returns at a path, by the OpenAPI document. */
export type ResponseAt<Path> =
  Path extends PathsWith<'post'> ? ResponseOf<Path> : Path extends GetPath ? GetResponseOf<Path> : unknown;

export async function callService<Path extends string>(
  target: ServiceTarget,
  path: Path,
  body: object,
  method: Method = 'POST',
): Promise<ResponseAt<Path>> {
  const response = await post(target, path, body, method);
  const text = await response.text().catch((error: unknown) => {
    throw new CallError(`${target.serviceUrl} ended its response early. Run the command again. ${String(error)}`);
  });
  const answer = parseJson(text);
  if (answer === null) throw notAService(target, 'Its response is not JSON.');
  return answer as ResponseAt<Path>;
}

/** @throws CallError with the service's message when it refuses, or when no service is at the URL. */
export async function post(
  target: ServiceTarget,
  path: string,
  body: object,
  method: Method = 'POST',
): Promise<Response> {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), ANSWERS_WITHIN_MS);
  const response = await fetch(`${target.serviceUrl}${path}`, {
    method,
    headers: { authorization: `Bearer ${target.apiKey}`, 'content-type': 'application/json' },
    ...(method === 'GET' ? {} : { body: JSON.stringify({ ...body, siteKey: target.siteKey }) }),
    // A redirected POST becomes a GET, and may lead to another host.
    redirect: 'manual',
    signal: target.signal === undefined ? silent.signal : AbortSignal.any([silent.signal, target.signal]),
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
    // A long file is read for longer than this.
    .finally(() => clearTimeout(timer));
  const { status, headers } = response;
  target.heardVersion?.(headers.get(VERSION_HEADER));
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
  throw new CallError(
    `The service refused ${path} with status ${status}, ${key}: ${message}${lines}`,
    isRefusal,
    status,
  );
}

/** For example the gate's own address, another site, or a page of a proxy in front of the service. */
function notAService({ serviceUrl }: ServiceTarget, what: string): CallError {
  return new CallError(`${serviceUrl} does not respond as a Gatehouse service. Check the URL. ${what}`);
}

const MAJOR_AND_MINOR = /^(\d{1,6})\.(\d{1,6})\./;

/**
 * Says once when service and command line have different versions: an older command line does not know what a newer
 * service returns. Patch versions change nothing that a caller sees.
 */
export function versionWatch(
  { version: own, hasRepository }: { version: string; hasRepository: boolean },
  note: (line: string) => void,
): (service: string | null) => void {
  let isSaid = false;
  return (service) => {
    const difference = service === null ? 0 : compared(service, own);
    if (difference === 0 || isSaid) return;
    isSaid = true;
    const update = hasRepository ? 'Update this checkout.' : `Install the command line of release ${service}.`;
    note(
      difference > 0
        ? `The service has version ${service}, and this command the older ${own}. ${update}`
        : `The service has version ${service}, and this command the newer ${own}. What the service does not know yet is refused.`,
    );
  };
}

/** Above 0: `service` is newer. A text that is no version is like every other. */
function compared(service: string, own: string): number {
  const [there, here] = [MAJOR_AND_MINOR.exec(service), MAJOR_AND_MINOR.exec(own)];
  if (there === null || here === null || !/^[\w.+-]{1,40}$/.test(service)) return 0;
  return Number(there[1]) - Number(here[1]) || Number(there[2]) - Number(here[2]);
}
