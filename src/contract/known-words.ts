/**
 * Words of a configuration that a newer service may send and this edge may not know. None of them costs the edge the rest
 * of its configuration (docs/decisions/0104-two-formats-at-a-time.md).
 */
import * as z from 'zod/mini';

/** One of these words. Any other word counts as `unknown`, which is safe in its place. */
export function knownWord<Word extends string, const Unknown extends Word | undefined>(
  words: readonly Word[],
  unknown: Unknown,
): z.ZodMiniType<Word | Unknown> {
  return z.pipe(
    z.string(),
    z.transform((word) => words.find((known) => known === word) ?? unknown),
  );
}

/** A list without the items that do not fit. */
export function knownItems<Item extends z.ZodMiniType>(item: Item): z.ZodMiniType<z.output<Item>[]> {
  return z.pipe(
    z.array(z.unknown()),
    z.transform((items) =>
      items.flatMap((one) => {
        const read = z.safeParse(item, one);
        return read.success ? [read.data] : [];
      }),
    ),
  );
}
