/** Reads a body up to a limit. `Content-Length` is a claim only, so bytes are counted as they arrive. */

/** The body as UTF-8 text, or `null` when it is longer. @throws when the body breaks off. */
export async function readBounded(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<string | null> {
  const bytes = await readBytes(body, maxBytes);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

/** `null`: longer than the limit. @throws when the body breaks off. */
export async function readBytes(
  body: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const reader = body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true as const, value: undefined };
    if (done) break;
    size += value.byteLength;
    if (size > maxBytes) {
      // Whatever still comes is not wanted, nor is the error of a body that broke.
      reader?.cancel().catch(() => undefined);
      return null;
    }
    chunks.push(value);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.byteLength;
  }
  return bytes;
}
