/**
 * The lines of a stream, one at a time: a list of a million lines is never one text. A line that is longer than any entry
 * is cut, so that a file without line ends takes no memory.
 */
import { failed, ok, type Result } from '../result.ts';

export const LINE_MAX_CHARS = 8192;

export type StreamFault = 'too-large' | 'broke-off';

/**
 * `take` gets the text of a stream in pieces as it arrives, and returns whether to go on. Returns what is left in the
 * decoder at the end; `null` where `take` ended the reading.
 */
export async function readTexts(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  take: (text: string) => boolean,
): Promise<Result<string | null, StreamFault>> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return ok(decoder.decode());
      bytes += value.byteLength;
      const isTooLarge = bytes > maxBytes;
      if (!isTooLarge && take(decoder.decode(value, { stream: true }))) continue;
      await reader.cancel('enough');
      return isTooLarge ? failed('too-large') : ok(null);
    }
  } catch {
    return failed('broke-off');
  }
}

/** `take` gets each line without its end, from number 1. Ends early, without an error, when it returns `false`. */
export async function readLines(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  take: (line: string, number: number) => boolean,
): Promise<Result<null, StreamFault>> {
  let number = 0;
  let rest = '';
  const cut = (text: string): boolean => {
    let at = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
      number += 1;
      if (!take(withoutReturn(rest + text.slice(at, end)), number)) return false;
      rest = '';
      at = end + 1;
    }
    if (rest.length < LINE_MAX_CHARS) rest += text.slice(at, at + LINE_MAX_CHARS);
    return true;
  };
  const read = await readTexts(stream, maxBytes, cut);
  if (!read.ok) return read;
  if (read.value === null) return ok(null);
  rest += read.value;
  if (rest !== '') take(withoutReturn(rest), number + 1);
  return ok(null);
}

function withoutReturn(line: string): string {
  const end = line.endsWith('\r') ? line.length - 1 : line.length;
  return line.slice(0, Math.min(end, LINE_MAX_CHARS));
}
