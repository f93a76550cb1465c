/**
 * Reads the stream of decisions of a CrowdSec Local API: everything at the start, and afterwards what is new and what was
 * deleted. The API merges decisions about one value, so a deleted value has none left.
 */
import { failed, ok, type Result } from '../result.ts';
import type { Decision } from '../contract/vocabulary.ts';
import type { SortedEntries } from './entry-set.ts';
import { LIST_MAX_BYTES, type ListError, type ReadingReport } from './list-format.ts';
import { ValueReader, shownLine } from './read-value.ts';
import { readTexts, type StreamFault } from './lines.ts';

export interface ReadDecisions {
  added: SortedEntries;
  deleted: SortedEntries;
  report: ReadingReport;
}

/** Decisions of other types ask for something else than the list does. */
const typesOf: Record<Decision, readonly string[]> = {
  block: ['ban'],
  challenge: ['ban', 'captcha'],
  allow: ['allow', 'whitelist'],
};

export async function readDecisionStream(
  stream: ReadableStream<Uint8Array>,
  verdict: Decision,
  includeReserved: boolean,
): Promise<Result<ReadDecisions, ListError>> {
  const added = new ValueReader(includeReserved);
  const deleted = new ValueReader(true);
  let number = 0;
  const read = await readJsonObjects(stream, LIST_MAX_BYTES, (list, decision) => {
    number += 1;
    if (list === 'new') readDecision(added, decision, typesOf[verdict], number);
    if (list === 'deleted') readDecision(deleted, decision, typesOf[verdict], number);
    return !added.isTooMany && !deleted.isTooMany;
  });
  if (!read.ok) return failed({ kind: read.error });
  const excess = added.excess ?? deleted.excess;
  if (excess !== null) return failed(excess);
  return ok({ added: added.entries.sorted(), deleted: deleted.entries.sorted(), report: added.report });
}

function readDecision(values: ValueReader, decision: unknown, types: readonly string[], number: number): void {
  const { type, scope, value } = decision as Record<string, unknown>;
  if (typeof type !== 'string' || typeof scope !== 'string' || typeof value !== 'string') {
    values.refuse('a decision', number, 'has no type, scope or value');
    return;
  }
  if (!types.includes(type)) return;
  switch (scope.toLowerCase()) {
    case 'ip':
    case 'range':
      return values.read(value.trim(), number);
    case 'as':
      return values.readAsn(value.trim(), number);
    case 'country':
      return values.readCountry(value.trim(), number);
    default:
      values.refuse(value, number, `has the scope ${shownLine(scope)}`);
  }
}

/** Of one object in a list. */
const OBJECT_MAX_CHARS = 8192;
const LIST_DEPTH = 2;

/**
 * The objects in the lists of one JSON object, such as `{"new": [{…}, …], "deleted": null}`, each parsed alone while the
 * document arrives. Parsed whole, a document of 24 MB would not fit into an isolate. `take` gets each object with the name
 * of its list; `false` ends the reading early, without an error.
 */
export async function readJsonObjects(
  stream: ReadableStream<Uint8Array>,
  maxBytes: number,
  take: (list: string, object: unknown) => boolean,
): Promise<Result<null, StreamFault | 'not-json'>> {
  const scanner = new Scanner(take);
  let state = 'more' as Scanned;
  const read = await readTexts(stream, maxBytes, (text) => (state = scanner.scan(text)) === 'more');
  if (!read.ok) return read;
  if (state !== 'more') return state === 'enough' ? ok(null) : failed(state);
  return scanner.isComplete ? ok(null) : failed(scanner.hasBegun ? 'broke-off' : 'not-json');
}

type Scanned = 'more' | 'enough' | 'not-json';

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

  scan(text: string): Scanned {
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

  #object(text: string): Scanned {
    try {
      return this.#take(this.#name, JSON.parse(text)) ? 'more' : 'enough';
    } catch {
      return 'not-json';
    }
  }
}
