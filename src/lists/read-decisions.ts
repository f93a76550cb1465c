/**
 * Reads the stream of decisions of a CrowdSec Local API: everything at the start, and afterwards what is new and what was
 * deleted. The API merges decisions about one value, so a deleted value has none left.
 */
import { failed, ok, type Result } from '../result.ts';
import type { Decision } from '../contract/vocabulary.ts';
import type { SortedEntries } from './entry-set.ts';
import { readJsonObjects } from './json-objects.ts';
import { LIST_MAX_BYTES, type ListError, type ReadingReport } from './list-format.ts';
import { shownLine, ValueReader } from './read-value.ts';

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
