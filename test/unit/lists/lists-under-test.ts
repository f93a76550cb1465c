/** Reads a list from a text, as it comes from a publisher: in chunks that end anywhere. */
import { ruleOfKey } from '../../../src/lists/entry-key.ts';
import type { SortedEntries } from '../../../src/lists/entry-set.ts';
import { listErrorText, type ReadingReport } from '../../../src/lists/list-format.ts';
import { readList } from '../../../src/lists/read-list.ts';

type Options = Omit<Parameters<typeof readList>[1], 'format'>;

export function streamOf(text: string, chunkBytes = 7): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, at + chunkBytes));
      at += chunkBytes;
    },
  });
}

export function valuesOf(entries: SortedEntries): string[] {
  return Array.from({ length: entries.length }, (_, at) => ruleOfKey(entries.key(at)).value);
}

export async function read(
  format: Parameters<typeof readList>[1]['format'],
  text: string,
  options: Options = {},
): Promise<{ values: string[]; report: ReadingReport } | string> {
  const result = await readList(streamOf(text), { format, ...options });
  if (!result.ok) return listErrorText(result.error);
  return { values: valuesOf(result.value.entries), report: result.value.report };
}
