/**
 * A schema as one plain check, compiled once. zod takes 9 µs per record, because Workers forbid its code generation;
 * a whole append to a shard takes 60 µs. `true`: zod would accept the value and return it unchanged, with its keys in
 * the same order. `false`: not known; ask zod. A property test compares the two.
 */
import type * as core from 'zod/v4/core';

type Check = (value: unknown) => boolean;

/** @throws for a schema that this code does not know, so that a new kind of field is not accepted unchecked. */
export function quickCheck(schema: core.$ZodType): Check {
  const { def } = (schema as core.$ZodTypes)._zod;
  const bounds = (def.checks ?? []).map(boundOf);
  const base = baseOf(def);
  if (bounds.length === 0) return base;
  return (value) => base(value) && bounds.every((bound) => bound(value));
}

function baseOf(def: core.$ZodTypeDef): Check {
  const known = def as core.$ZodTypes['_zod']['def'];
  switch (known.type) {
    case 'string':
      return stringCheck(known);
    case 'number':
      return numberCheck(known);
    case 'boolean':
      return (value) => typeof value === 'boolean';
    case 'literal':
      return amongCheck(known.values);
    case 'enum':
      return amongCheck(Object.values(known.entries));
    case 'nullable': {
      const inner = quickCheck(known.innerType);
      return (value) => value === null || inner(value);
    }
    case 'optional':
      return quickCheck(known.innerType);
    case 'array': {
      const element = quickCheck(known.element);
      return (value) => Array.isArray(value) && value.every(element);
    }
    case 'object':
      return objectCheck(known);
    default:
      throw new Error(`No quick check for a schema of type ${def.type}`);
  }
}

function stringCheck(def: core.$ZodStringDef): Check {
  const { format, pattern } = def as Partial<core.$ZodStringFormatDef>;
  if (format === undefined) return (value) => typeof value === 'string';
  if (format !== 'uuid' || pattern === undefined) throw new Error(`No quick check for a string of format ${format}`);
  return (value) => typeof value === 'string' && pattern.test(value);
}

function numberCheck(def: core.$ZodNumberDef): Check {
  const { format } = def as Partial<core.$ZodNumberFormatDef>;
  if (format === undefined) return (value) => Number.isFinite(value);
  if (format !== 'safeint') throw new Error(`No quick check for a number of format ${format}`);
  return (value) => Number.isSafeInteger(value);
}

function amongCheck(values: readonly unknown[]): Check {
  const among = new Set(values);
  return (value) => among.has(value);
}

/** Exactly these fields, in this order, as every edge writes them. Those that are optional may be missing. */
function objectCheck(def: core.$ZodObjectDef): Check {
  if ((def.catchall as core.$ZodTypes | undefined)?._zod.def.type !== 'never') {
    throw new Error('A quick check needs a strict object');
  }
  const names = Object.keys(def.shape);
  const checks = names.map((name) => quickCheck(def.shape[name] as core.$ZodType));
  const canMiss = names.map((name) => (def.shape[name] as core.$ZodTypes)._zod.def.type === 'optional');
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    let at = 0;
    for (const name in value) {
      while (canMiss[at] && name !== names[at]) at++;
      if (name !== names[at] || !checks[at]?.((value as Record<string, unknown>)[name])) return false;
      at++;
    }
    while (canMiss[at]) at++;
    return at === names.length;
  };
}

function boundOf(check: core.$ZodCheck<never>): Check {
  const def = (check as unknown as core.$ZodChecks)._zod.def;
  switch (def.check) {
    case 'min_length':
      return (value) => (value as string).length >= def.minimum;
    case 'max_length':
      return (value) => (value as string).length <= def.maximum;
    case 'greater_than':
      return (value) =>
        def.inclusive ? (value as number) >= Number(def.value) : (value as number) > Number(def.value);
    case 'less_than':
      return (value) =>
        def.inclusive ? (value as number) <= Number(def.value) : (value as number) < Number(def.value);
    default:
      throw new Error(`No quick check for ${def.check}`);
  }
}
