/**
 * From the members of a creation to the members of a change: all optional, none with a default, so
 * that what is not sent is not touched.
 */
import * as z from 'zod/mini';

type Shape = Readonly<Record<string, z.core.$ZodType>>;
type WithoutDefault<T extends z.core.$ZodType> = T extends z.ZodMiniDefault<infer Inner> ? Inner : T;
export type Patch<S extends Shape> = { [K in keyof S]: z.ZodMiniOptional<WithoutDefault<S[K]>> };

export function withoutDefaults<S extends Shape>(shape: S): Patch<S> {
  const members = Object.entries(shape).map(([name, schema]) => {
    const inner = schema instanceof z.core.$ZodDefault ? schema._zod.def.innerType : schema;
    return [name, z.optional(inner)];
  });
  return Object.fromEntries(members) as Patch<S>;
}
