/**
 * What an attack program on a picture or a recording is: it gets the task as a browser gets it, and returns the solution
 * that it would send. Programs here are honest work of an afternoon: signal and image processing with the drawing code
 * at hand, and no trained model.
 */
import type { AudioTask, ImageTask, PuzzleTask } from '../../src/contract/captcha/challenge-api.ts';

export interface Tasks {
  image: ImageTask;
  puzzle: PuzzleTask;
  audio: AudioTask;
}
export type TaskName = keyof Tasks;

/** A task that the program drew itself, with its answer. */
export interface Example<Name extends TaskName> {
  task: Tasks[Name];
  solution: Record<string, unknown>;
}

export interface Attack<Name extends TaskName> {
  name: string;
  /** Sets a few numbers by examples, once. Its time is not counted, because it serves for all tokens. */
  learn?(examples: readonly Example<Name>[]): void;
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
