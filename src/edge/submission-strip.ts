/**
 * Takes the token field out of a submission and leaves every other byte as it was: a form is not
 * parsed and written anew, because no two writers agree on spaces, order and encodings.
 */

export function withoutUrlencodedField(body: Uint8Array<ArrayBuffer>, field: string): Uint8Array<ArrayBuffer> {
  const text = latin1(body);
  const kept = text.split('&').filter((pair) => {
    const equals = pair.indexOf('=');
    return decodedName(equals < 0 ? pair : pair.slice(0, equals)) !== field;
  });
  return bytes(kept.join('&'));
}

export function withoutMultipartField(
  body: Uint8Array<ArrayBuffer>,
  contentType: string,
  field: string,
): Uint8Array<ArrayBuffer> {
  const match = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))/i.exec(contentType);
  const boundary = match?.[1] ?? match?.[2];
  if (boundary === undefined) return body;
  const [head = '', ...parts] = latin1(body).split(`--${boundary}`);
  const kept = parts.filter((part) => {
    const end = part.indexOf('\r\n\r\n');
    const headers = end < 0 ? part : part.slice(0, end);
    const name = /^content-disposition:[^\r\n]*;\s*name=(?:"([^"]*)"|([^\s;\r]*))/im.exec(headers);
    return (name?.[1] ?? name?.[2]) !== field;
  });
  return bytes([head, ...kept].join(`--${boundary}`));
}

/** The one form that is written anew: the field is a member, and what surrounds it is its syntax. */
export function withoutJsonField(body: Uint8Array<ArrayBuffer>, steps: readonly string[]): Uint8Array<ArrayBuffer> {
  const document: unknown = JSON.parse(new TextDecoder().decode(body));
  let holder: unknown = document;
  for (const step of steps.slice(0, -1)) holder = (holder as Record<string, unknown> | null)?.[step];
  const last = steps.at(-1);
  if (typeof holder !== 'object' || holder === null || last === undefined) return body;
  delete (holder as Record<string, unknown>)[last];
  return new TextEncoder().encode(JSON.stringify(document)) as Uint8Array<ArrayBuffer>;
}

function decodedName(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name;
  }
}

/** One character per byte, so that text operations never touch the bytes they pass over. */
function latin1(body: Uint8Array): string {
  let text = '';
  const CHUNK_BYTES = 32_768;
  for (let at = 0; at < body.length; at += CHUNK_BYTES) {
    text += String.fromCharCode(...body.subarray(at, at + CHUNK_BYTES));
  }
  return text;
}

function bytes(text: string): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) out[index] = text.charCodeAt(index);
  return out;
}
