/** JSON for people who read a generated file, or a change of it. */
const LINE_MAX_CHARS = 100;

/** Values whose text is short have one line each. */
export function compactJson(value: unknown, indent = ''): string {
  const line = JSON.stringify(value);
  return typeof value !== 'object' || value === null || line.length + indent.length <= LINE_MAX_CHARS
    ? line
    : spread(value, indent, compactJson);
}

/** One line for each entry: `depth` levels of lists and objects are spread over lines, and what is below has one. */
export function entryLines(value: unknown, depth: number, indent = ''): string {
  return typeof value !== 'object' || value === null || depth === 0
    ? JSON.stringify(value)
    : spread(value, indent, (entry, deeper) => entryLines(entry, depth - 1, deeper));
}

function spread(value: object, indent: string, textOf: (entry: unknown, indent: string) => string): string {
  const deeper = `${indent}  `;
  const inner = Array.isArray(value)
    ? value.map((item) => `${deeper}${textOf(item, deeper)}`)
    : Object.entries(value).map(([key, item]) => `${deeper}${JSON.stringify(key)}: ${textOf(item, deeper)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${inner.join(',\n')}\n${indent}${close}`;
}
