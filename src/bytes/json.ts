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

/** A policy's condition has up to 32 groups inside each other, each an object and a list. */
export const JSON_DEPTH_MAX = 80;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

interface JsonShape {
  /** Deepest nesting of brackets. */
  depth: number;
  /** Each comma begins another value. */
  values: number;
}

/**
 * What a JSON text would become, counted before it is parsed: a list of a hundred thousand numbers where a schema wants
 * texts costs a tenth of a second in mistakes. One pass, no recursion.
 */
export function jsonShape(text: string): JsonShape {
  let values = 1;
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (inString) {
      if (code === BACKSLASH) index++;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === COMMA) values++;
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) deepest = Math.max(deepest, ++depth);
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) depth--;
  }
  return { depth: deepest, values };
}
