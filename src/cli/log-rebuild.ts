/**
 * `gatehouse log rebuild`: builds index and counts of a log again from its Parquet files. It calls the management API
 * step by step, and says at the end what it read and which files it skipped.
 */
import { rebuildStreams } from '../contract/management/log-rebuild.ts';
import { CommandError } from './command-line.ts';
import { instanceCommand, type Commands, type Given } from './command.ts';
import { callService, type ResponseAt } from './management-call.ts';
import { printable } from './print/printable.ts';

type Rebuilt = Pick<ResponseAt<'/protect/log/rebuild'>, 'segments' | 'rows' | 'skipped'>;

export const logCommands: Commands = {
  'log rebuild': instanceCommand({
    about:
      'Builds index and counts of the verdict log, or of captchas or reports of pages, again from the files in R2. Until it has ended, reads do not see everything.',
    example: 'log rebuild --stream captchas',
    optional: { stream: rebuildStreams.join('|') },
    run: rebuilt,
    print: ({ rows, segments, skipped }) =>
      [
        `Rebuilt ${rows} rows from ${segments} files.`,
        ...(skipped.length === 0
          ? []
          : [`Skipped ${skipped.length} files, which are still in the bucket:`, ...skipped.map(skippedLine)]),
      ].map(printable),
  }),
};

async function rebuilt(given: Given): Promise<Rebuilt> {
  const { stream = 'verdicts' } = given.values;
  if (!rebuildStreams.some((name) => name === stream))
    throw new CommandError(`--stream is one of ${rebuildStreams.join(', ')}.`);
  const target = given.target();
  const progress = given.progress('log rebuild');
  const sum: Rebuilt = { segments: 0, rows: 0, skipped: [] };
  let cursor: string | undefined;
  try {
    do {
      const step = await callService(target, '/protect/log/rebuild', { stream, cursor });
      sum.segments += step.segments;
      sum.rows += step.rows;
      sum.skipped.push(...step.skipped);
      cursor = step.nextCursor ?? undefined;
      const total = step.segmentsLeft === null ? null : sum.segments + sum.skipped.length + step.segmentsLeft;
      const of = total === null ? '' : ` of ${total}`;
      progress.at(sum.segments + sum.skipped.length, total, `${sum.segments}${of} files, ${sum.rows} rows`);
    } while (cursor !== undefined);
  } finally {
    progress.end();
  }
  return sum;
}

function skippedLine({ object, reason }: Rebuilt['skipped'][number]): string {
  return `  ${object}: ${reason}`;
}
