/**
 * Runs a command where the database is: in the stack that owns the state directory, on its files when no stack runs, or
 * with `--remote` on the deployed database.
 */
import type { CommandResult } from '../command-line.ts';
import type { Given } from '../command.ts';
import { runInStack } from '../control.ts';
import { OperatorError } from '../failure.ts';
import { startCommand } from '../print/printed-command.ts';
import { StateDir } from '../state.ts';

export async function runOnDatabase(words: readonly string[], given: Given): Promise<unknown> {
  const progress = given.progress(words.slice(0, 2).join(' '));
  const { exitCode, output } = await ran(words, given, (done, total) =>
    progress.at(done, total, `${done} of ${total} files`),
  ).finally(() => progress.end());
  if (exitCode !== 0) throw new OperatorError(output);
  return JSON.parse(output);
}

async function ran(
  words: readonly string[],
  { remote, state: dir }: Given,
  seen: (done: number, total: number) => void,
): Promise<CommandResult> {
  // Simulator and wrangler take a second to load.
  if (remote) return (await import('../remote.ts')).runRemote(words);
  const state = new StateDir(dir);
  if (!state.exists())
    throw new OperatorError(
      `There is no local stack in ${state.path}. Start one with ${startCommand(state.path)}, or correct --state.`,
    );
  const running = await state.claimOrReach('command');
  if (running) return runInStack(running, words, seen);
  try {
    return await (await import('../stopped-stack.ts')).runOnFiles(state, words, seen);
  } finally {
    state.release();
  }
}
