/**
 * From the fields of a create request to the fields of an update request: all optional and without defaults, so that
 * an update leaves alone what it does not name.
 */
import * as z from 'zod/mini';

type Shape = Readonly<Record<string, z.core.$ZodType>>;
type WithoutDefault<T extends z.core.$ZodType> = T extends z.ZodMiniDefault<infer Inner> ? Inner : T;
export type Patch<S extends Shape> = { [K in keyof S]: z.ZodMiniOptional<WithoutDefault<S[K]>> };

export function withoutDefaults<S extends Shape>(shape: S): Patch<S> {
  const fields = Object.entries(shape).map(([name, schema]) => {
    const inner = schema instanceof z.core.$ZodDefault ? schema._zod.def.innerType : schema;
    return [name, z.optional(inner)];
  });
  return Object.fromEntries(fields) as Patch<S>;
}
