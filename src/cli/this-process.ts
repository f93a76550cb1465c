/** Connects a run of the command line with its process: outputs, Ctrl-C, a reader that stops reading, the exit code. */
import type { Surroundings } from './main.ts';

/** Runs, and ends the process with the exit code. */
export async function onThisProcess(
  run: (around: Pick<Surroundings, 'stdin' | 'stdout' | 'stderr' | 'env' | 'interrupted'>) => Promise<number>,
): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) {
    // `gatehouse verdicts | head` closes the pipe. What was wanted is there, so this is no failure.
    stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  }
  const { stdin, stdout, stderr, env } = process;
  const exitCode = await run({ stdin, stdout, stderr, env, interrupted });
  // After everything is written. Wrangler may still wait for an answer, which would keep the process alive.
  stdout.write('', () => stderr.write('', () => process.exit(exitCode)));
}

function interrupted(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort());
  return controller.signal;
}
