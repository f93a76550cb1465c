/**
 * What zod leaves out of the JSON Schema of a request, because a step behind it changes the value: a default, the bounds
 * of a number that may also come as text, and what a list holds whose items are checked one by one.
 */
import { type $ZodType, type $ZodTypes, toJSONSchema } from 'zod/v4/core';

type Json = Record<string, unknown>;

export function describeInput({ zodSchema, jsonSchema }: { zodSchema: $ZodTypes; jsonSchema: object }): void {
  const schema = jsonSchema as Json;
  const { def } = zodSchema._zod;
  // What stands in for a value that does not fit is no default: a missing field stays missing.
  if (def.type === 'catch') delete schema['default'];
  if (def.type === 'default') schema['default'] = def.defaultValue;
  if (def.type === 'pipe') boundNumbers(schema, def.out);
  if (def.type === 'union') {
    const known = ((schema['anyOf'] ?? []) as Json[]).filter((option) => Object.keys(option).length > 0);
    if (known.length !== 1) return;
    delete schema['anyOf'];
    Object.assign(schema, known[0]);
  }
}

/** A number reaches the step behind it as it is, so the bounds there are bounds of the request. */
function boundNumbers(schema: Json, out: $ZodType): void {
  if (out._zod.def.type !== 'number') return;
  const { type: _type, $schema: _dialect, ...bounds } = toJSONSchema(out) as Json;
  for (const option of [schema, ...((schema['anyOf'] ?? []) as Json[])]) {
    if (option['type'] === 'number' || option['type'] === 'integer') Object.assign(option, bounds);
  }
}
