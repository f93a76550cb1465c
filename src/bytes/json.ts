/** JSON from elsewhere, which may be none: `null` for whatever does not parse, as for the document `null`. */
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
