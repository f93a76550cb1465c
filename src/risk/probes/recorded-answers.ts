/**
 * What real browsers answered to the recorded questions, by engine and version. `npm run record:risk -- probes` writes the
 * file. Its first recording of an engine has all answers, and the others have the changes from the one before.
 */
import type { Engine } from '../headers/claimed-browser.ts';
import file from './recorded-answers.json' with { type: 'json' };

export interface Recording {
  /** Major. */
  version: number;
  /** In the order of the questions. `UNSTABLE` where runs differed. */
  answers: readonly string[];
}
export const UNSTABLE = '-';

/** By version. The first has `answer answer …`, the others `place:answer place:answer …`. */
type Changes = Readonly<Record<string, string>>;
export interface RecordingFile extends Record<Engine, Changes> {
  /** `shortHash` of the questions as JSON: the answers hold for these. */
  questions: string;
}

/** Oldest first. */
export function recordingsIn(changes: Changes): Recording[] {
  const recordings: Recording[] = [];
  for (const [version, text] of Object.entries(changes)) {
    const before = recordings.at(-1);
    const answers = before === undefined ? text.split(' ') : [...before.answers];
    for (const [, place, answer] of before === undefined ? [] : text.matchAll(/(\d+):(\S+)/g)) {
      answers[Number(place)] = answer!;
    }
    recordings.push({ version: Number(version), answers });
  }
  return recordings;
}

export function asChanges(recordings: readonly Recording[]): Changes {
  const texts = recordings.map(({ version, answers }, at) => {
    const before = recordings[at - 1]?.answers;
    if (before === undefined) return [version, answers.join(' ')];
    return [
      version,
      answers.flatMap((answer, place) => (answer === before[place] ? [] : `${place}:${answer}`)).join(' '),
    ];
  });
  return Object.fromEntries(texts) as Changes;
}

const recorded: RecordingFile = file;

const known = new Map<Engine, Recording[]>();

export function recordingsOf(engine: Engine): readonly Recording[] {
  const recordings = known.get(engine) ?? recordingsIn(recorded[engine]);
  known.set(engine, recordings);
  return recordings;
}
