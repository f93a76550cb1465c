/**
 * What an attack program on a picture or a recording is: it gets the task as a browser gets it, and returns the solution
 * that it would send. Programs are honest work of an afternoon with the drawing code at hand; `model` has those that are
 * trained.
 */
import type { AudioTask, ImageTask, PuzzleTask } from '../../src/contract/captcha/challenge-api.ts';

export interface Tasks {
  image: ImageTask;
  puzzle: PuzzleTask;
  audio: AudioTask;
}
export type TaskName = keyof Tasks;

export interface Attack<Name extends TaskName> {
  name: string;
  solve(task: Tasks[Name]): Record<string, unknown>;
}

/** The task of a response. @throws where it has another one. */
export function taskOf<Name extends TaskName>(
  name: Name,
  response: { [One in TaskName]?: Tasks[One] | undefined },
): Tasks[Name] {
  const task = response[name];
  if (task === undefined) throw new Error(`The service drew no ${name}`);
  return task as Tasks[Name];
}
