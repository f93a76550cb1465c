/**
 * `gatehouse log rebuild`: builds index and counts of a log again from its Parquet files. It calls the management API
 * step by step, and says at the end what it read and which files it skipped.
 */
import { rebuildStreams } from '../contract/management/log-rebuild.ts';
import type { RebuildLogResponse } from '../contract/management/log-rebuild.ts';
import { argumentsOf, CommandError } from './command-line.ts';
import type { CommandLine, CommandResult } from './command-line.ts';
import { call, targetFlags, targetOf } from './management-call.ts';
import { printable } from './printable.ts';

export const logCommands = {
  'log rebuild': {
    about:
      'Builds index and counts of the verdict log, or of captchas or reports of pages, again from the files in R2. Until it has ended, reads do not see everything.',
    optional: { stream: rebuildStreams.join('|'), ...targetFlags },
  },
} satisfies Record<string, CommandLine>;

/** `args`: the words of the command line, from `log` on. `stateDir`: of the local stack. */
export async function run(args: readonly string[], stateDir = '.gatehouse'): Promise<CommandResult> {
  try {
    const line = logCommands['log rebuild'];
    const { values } = argumentsOf('log rebuild', line, args.slice(2));
    const { stream = 'verdicts' } = values;
    if (!rebuildStreams.some((name) => name === stream))
      throw new CommandError(`--stream is one of ${rebuildStreams.join(', ')}.`);
    const target = targetOf(values['service'], values['site-key'], stateDir);
    const sum = { segments: 0, rows: 0, skipped: [] as RebuildLogResponse['skipped'] };
    let cursor: string | undefined;
    do {
      const step = (await call(target, '/protect/log/rebuild', { stream, cursor })) as RebuildLogResponse;
      sum.segments += step.segments;
      sum.rows += step.rows;
      sum.skipped.push(...step.skipped);
      cursor = step.nextCursor ?? undefined;
      if (cursor !== undefined) process.stderr.write(`${sum.rows} rows of ${sum.segments} files…\n`);
    } while (cursor !== undefined);
    const skipped = sum.skipped.map(({ object, reason }) => `  ${object}: ${reason}`);
    const lines = [
      `Rebuilt ${sum.rows} rows from ${sum.segments} files.`,
      ...(skipped.length === 0 ? [] : [`Skipped ${skipped.length} files, which are still in the bucket:`, ...skipped]),
    ];
    return { exitCode: 0, output: lines.map(printable).join('\n') };
  } catch (error) {
    return { exitCode: 1, output: error instanceof Error ? error.message : String(error) };
  }
}
