/**
 * Calls of the management API with the session's cookie: `send` for any, and typed, `call` once and `useCall` for what a
 * view shows. Every outcome is a value: a response, a refusal of the service with its sentence, or a network that is gone.
 */
import { useCallback, useEffect, useState } from 'preact/hooks';
import { failed, ok, type Result } from '../../result.ts';
import type { GetPath, GetResponseOf, PathsWith, RequestOf, ResponseOf } from './service-api.ts';

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

type PostPath = PathsWith<'post'>;

export function call<P extends PostPath>(
  path: P,
  body: RequestOf<P>,
  signal?: AbortSignal,
): Promise<Result<ResponseOf<P>, Refusal>> {
  return send({ method: 'POST', path, body }, signal) as Promise<Result<ResponseOf<P>, Refusal>>;
}

export interface Loaded<Value> {
  /** The newest answer. It stays while the next one loads, so that nothing on the page moves. */
  value: Value | null;
  /** Why the last call failed; `null` when it did not. */
  error: Refusal | null;
  isLoading: boolean;
  reload: () => void;
  /** The calls behind it. */
  calls: readonly Sent[];
}

/**
 * What the API answers, asked again whenever the body changes. `null` asks nothing.
 * @param everyMs asks again after this time, while the page is visible.
 */
export function useCall<P extends PostPath>(
  path: P,
  body: RequestOf<P> | null,
  { everyMs }: { everyMs?: number } = {},
): Loaded<ResponseOf<P>> {
  return useSent<ResponseOf<P>>(body === null ? null : { method: 'POST', path, body }, everyMs);
}

/** As `useCall`, for an operation without a body. */
export function useGet<P extends GetPath>(path: P, { everyMs }: { everyMs?: number } = {}): Loaded<GetResponseOf<P>> {
  return useSent<GetResponseOf<P>>({ method: 'GET', path }, everyMs);
}

/** For what the OpenAPI document does not describe. The caller knows what is answered. */
export function useSent<Value>(sent: Sent | null, everyMs?: number): Loaded<Value> {
  const [state, setState] = useState<Omit<Loaded<Value>, 'reload' | 'calls'>>({
    value: null,
    error: null,
    isLoading: sent !== null,
  });
  const [turn, setTurn] = useState(0);
  const asked = sent === null ? null : JSON.stringify(sent);
  useEffect(() => {
    if (asked === null) return;
    const controller = new AbortController();
    setState((former) => ({ ...former, isLoading: true }));
    const ask = async (): Promise<void> => {
      const answer = (await send(JSON.parse(asked) as Sent, controller.signal)) as Result<Value, Refusal>;
      if (controller.signal.aborted) return;
      setState((former) =>
        answer.ok
          ? { value: answer.value, error: null, isLoading: false }
          : { value: former.value, error: answer.error, isLoading: false },
      );
    };
    // Only an aborted call throws.
    ask().catch(() => undefined);
    return () => controller.abort();
  }, [asked, turn]);
  const reload = useCallback(() => setTurn((former) => former + 1), []);
  useEffect(() => {
    if (everyMs === undefined || asked === null) return;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reload();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, asked, reload]);
  return { ...state, reload, calls: sent === null ? [] : [sent] };
}

/** Several calls that a view shows as one: there is a value when all of them have one. */
export function together<Values extends readonly unknown[]>(
  ...loads: { [At in keyof Values]: Loaded<Values[At]> }
): Loaded<Values> {
  const all = loads as readonly Loaded<unknown>[];
  return {
    value: all.every(({ value }) => value !== null) ? (all.map(({ value }) => value) as unknown as Values) : null,
    error: all.find(({ error }) => error !== null)?.error ?? null,
    isLoading: all.some(({ isLoading }) => isLoading),
    reload: () => {
      for (const { reload } of all) reload();
    },
    calls: all.flatMap(({ calls }) => calls),
  };
}

export interface Action {
  isBusy: boolean;
  /** Why the last call was refused; `null` when it was not. */
  error: Refusal | null;
  /** @returns what was answered, or `null` when it was refused. */
  run: <Value extends object | string>(sent: Promise<Result<Value, Refusal>>) => Promise<Value | null>;
}

/** What a button does: one call, whether it runs, and why it was refused. */
export function useAction(): Action {
  const [state, setState] = useState<Omit<Action, 'run'>>({ isBusy: false, error: null });
  const run: Action['run'] = async (sent) => {
    setState(({ error }) => ({ isBusy: true, error }));
    const answer = await sent;
    setState({ isBusy: false, error: answer.ok ? null : answer.error });
    return answer.ok ? answer.value : null;
  };
  return { ...state, run };
}
