/** A field of JSON that another party sent, or of a body that a framework parsed: own fields only, never inherited ones. */
export function ownField(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;
}
