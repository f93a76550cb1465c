/**
 * The objects in the lists of one JSON object, such as `{"new": [{…}, …], "deleted": null}`, each parsed alone while the
 * document arrives. Parsed whole, a document of 24 MB would not fit into an isolate.
 */
import { failed, ok, type Result } from '../result.ts';
import type { LinesError } from './lines.ts';

/** Of one object in a list. */
const OBJECT_MAX_CHARS = 8192;
const LIST_DEPTH = 2;

export type JsonObjectsError = LinesError | 'not-json';

/** `take` gets each object with the name of its list; `false` ends the reading early, without an error. */
export async function readJsonObjects(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  take: (list: string, object: unknown) => boolean,
): Promise<Result<null, JsonObjectsError>> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const scanner = new Scanner(take);
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      bytes += value.byteLength;
      const state = bytes > maxBytes ? 'too-large' : scanner.scan(decoder.decode(value, { stream: true }));
      if (state === 'more') continue;
      await reader.cancel('enough');
      return state === 'enough' ? ok(null) : failed(state);
    }
  } catch {
    return failed('broke-off');
  }
  return scanner.isComplete ? ok(null) : failed(scanner.hasBegun ? 'broke-off' : 'not-json');
}

class Scanner {
  readonly #take: (list: string, object: unknown) => boolean;
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  /** The last text at the top, which is the name of what follows it. */
  #name = '';
  /** The object or the name that is being read; `null` between them. */
  #part: string | null = null;
  hasBegun = false;
  isComplete = false;

  constructor(take: (list: string, object: unknown) => boolean) {
    this.#take = take;
  }

  scan(text: string): 'more' | 'enough' | 'not-json' {
    let from = 0;
    for (let at = 0; at < text.length; at += 1) {
      const char = text.charAt(at);
      if (this.isComplete) {
        if (char.trim() !== '') return 'not-json';
        continue;
      }
      if (this.#isText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (char === '\\') this.#isEscaped = true;
        else if (char === '"') {
          this.#isText = false;
          if (this.#depth === 1) {
            this.#name = (this.#part ?? '') + text.slice(from, at);
            this.#part = null;
          }
        }
        continue;
      }
      if (char === '"') {
        this.#isText = true;
        if (this.#depth === 1) {
          this.#part = '';
          from = at + 1;
        }
      } else if (char === '{' || char === '[') {
        if (this.#depth === 0 && char !== '{') return 'not-json';
        this.hasBegun = true;
        if (this.#depth === LIST_DEPTH) {
          this.#part = '';
          from = at;
        }
        this.#depth += 1;
      } else if (char === '}' || char === ']') {
        this.#depth -= 1;
        if (this.#depth === LIST_DEPTH) {
          const state = this.#object((this.#part ?? '') + text.slice(from, at + 1));
          if (state !== 'more') return state;
          this.#part = null;
        }
        if (this.#depth === 0) this.isComplete = true;
      } else if (this.#depth === 0 && char.trim() !== '' && char !== '\uFEFF') return 'not-json';
    }
    if (this.#part !== null) this.#part += text.slice(from);
    return (this.#part?.length ?? 0) > OBJECT_MAX_CHARS ? 'not-json' : 'more';
  }

  #object(text: string): 'more' | 'enough' | 'not-json' {
    try {
      return this.#take(this.#name, JSON.parse(text)) ? 'more' : 'enough';
    } catch {
      return 'not-json';
    }
  }
}
