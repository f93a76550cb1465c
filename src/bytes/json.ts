/** JSON from another party. Text that does not parse is `null`, like the document `null`. */
const decoder = new TextDecoder();

export function parseJson(text: string | Uint8Array | null): unknown {
  if (text === null) return null;
  try {
    return JSON.parse(typeof text === 'string' ? text : decoder.decode(text)) as unknown;
  } catch {
    return null;
  }
}

export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
