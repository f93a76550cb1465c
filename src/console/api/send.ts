/**
 * One call to the management API with the session's cookie. Every outcome is a value: a response, a refusal of the
 * service with its sentence, or a network that is gone.
 */
import { failed, ok, type Result } from '../../result.ts';

export interface Refusal {
  /** HTTP status; 0: the service could not be reached. */
  status: number;
  key: string;
  message: string;
  details: readonly { path: string; message: string }[];
  /** Names the call in the service's log. */
  requestId: string | null;
}

export interface Sent {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  body?: unknown;
}

const UNREACHABLE: Refusal = {
  status: 0,
  key: 'NETWORK',
  message:
    'The service cannot be reached. Check your connection. If you were changing something, look whether it was done before you try again.',
  details: [],
  requestId: null,
};

/** What a refusal says about the session: it has ended, or its person may do less than this page thinks. */
export type SessionNotice = 'over' | 'less';
const LESS: readonly string[] = ['API.INSUFFICIENT_PERMISSIONS', 'API.ACCOUNT_DISABLED'];
const listeners = new Set<(notice: SessionNotice) => void>();

export function onSessionNotice(listener: (notice: SessionNotice) => void): void {
  listeners.add(listener);
}

/** The response whatever it has; for files and streams. */
export async function sendRaw({ method, path, body }: Sent, signal?: AbortSignal): Promise<Result<Response, Refusal>> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      credentials: 'same-origin',
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    return failed(UNREACHABLE);
  }
  if (response.ok) return ok(response);
  const refusal = await refusalIn(response);
  // The calls of the sign-in itself say what they mean to whom they answer.
  if (!path.startsWith('/console/auth/')) {
    const notice = refusal.status === 401 ? 'over' : LESS.includes(refusal.key) ? 'less' : null;
    if (notice !== null) for (const listener of listeners) listener(notice);
  }
  return failed(refusal);
}

/** The JSON of a 2xx response, or its text if it is no JSON. The OpenAPI document says what it has. */
export async function send(sent: Sent, signal?: AbortSignal): Promise<Result<unknown, Refusal>> {
  const response = await sendRaw(sent, signal);
  if (!response.ok) return response;
  try {
    const isJson = response.value.headers.get('content-type')?.startsWith('application/json') === true;
    return ok(isJson ? await response.value.json() : await response.value.text());
  } catch (error) {
    if (signal?.aborted === true) throw error;
    return failed(UNREACHABLE);
  }
}

async function refusalIn(response: Response): Promise<Refusal> {
  const requestId = response.headers.get('x-request-id');
  const fallback = { key: 'UNKNOWN', message: `The service answered with status ${response.status}.`, details: [] };
  const body = (await response.json().catch(() => null)) as { error?: unknown } | null;
  const error = body?.error;
  if (typeof error === 'string') return { status: response.status, requestId, ...fallback, message: `${error}.` };
  if (typeof error !== 'object' || error === null) return { status: response.status, requestId, ...fallback };
  const { key, message, details } = error as Partial<Refusal>;
  return {
    status: response.status,
    requestId,
    key: typeof key === 'string' ? key : fallback.key,
    message: typeof message === 'string' ? message : fallback.message,
    details: Array.isArray(details) ? details : [],
  };
}

/** In single quotes, which a POSIX shell leaves alone. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export function curlLine({ method, path, body }: Sent, origin: string = location.origin): string {
  const parts = ['curl -s'];
  if (method === 'PUT') parts.push('-X PUT');
  parts.push(quoted(origin + path), `-H "Authorization: Bearer $KEY"`);
  if (method !== 'GET') parts.push(`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(body ?? {}))}`);
  return parts.join(' ');
}
