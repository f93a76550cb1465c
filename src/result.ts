/** The one shape of an operation that can fail in a known way. `E` is a tagged union per domain, or a sentence. */
export type Result<T, E> = { ok: true; value: T } | { ok: false; error: E };

export function ok<T>(value: T): { ok: true; value: T } {
  return { ok: true, value };
}

export function failed<E>(error: E): { ok: false; error: E } {
  return { ok: false, error };
}
