/** Typed calls of the management API for views: `call` once, `useCall` for what a view shows. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Result } from '../../result.ts';
import { type Refusal, send, type Sent } from './send.ts';
import type { GetPath, GetResponseOf, PathsWith, RequestOf, ResponseOf } from './service-api.ts';

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
