/** Reads a file that an operator sends, in the format of a list. */
import type { ListSettings } from '../../contract/management/lists.ts';
import type { ListError } from '../../lists/list-format.ts';
import { type ReadList, readList } from '../../lists/read-list.ts';
import { failed, type Result } from '../../result.ts';

export function readContent(content: string, settings: ListSettings): Promise<Result<ReadList, ListError>> {
  return readPlainList(new Blob([content]).stream() as ReadableStream<Uint8Array>, settings);
}

/** Any list that is not a stream of decisions. */
export async function readPlainList(
  body: ReadableStream<Uint8Array>,
  { format, column, selector, includeReserved }: ListSettings,
): Promise<Result<ReadList, ListError>> {
  if (format === 'crowdsec') return failed({ kind: 'not-json' });
  return readList(body, {
    format,
    column: column ?? undefined,
    selector: selector ?? undefined,
    includeReserved,
  });
}
