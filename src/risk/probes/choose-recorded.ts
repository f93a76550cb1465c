/**
 * Chooses the recorded questions that tell a claimed browser best. Between two recorded versions the answers of both
 * neighbours are right. Questions whose answers changed shortly before or after the claimed version show an engine of
 * another version. Where no neighbour is recorded, wrong answers count less, because some may have changed.
 */
import type { ClaimedBrowser } from '../headers/claimed-browser.ts';
import type { Draw } from './draw.ts';
import { type Recording, recordingsOf, UNSTABLE } from './recorded-answers.ts';

export interface RecordedChoice {
  /** Of the question. */
  place: number;
  answers: readonly string[];
  /** Of `WRONG_MIN` in `ask-probes.ts`. */
  weight: number;
}

const QUESTIONS = 6;
/** Two wrong answers are enough. */
const KNOWN = 10;
/** A version newer than the newest recorded one: four of six. */
const NEWER = 5;
/** An engine or version without a recording is asked what all recorded browsers answer alike: five of six. */
const UNRECORDED = 4;
/** Out of so many candidates, so that they cannot be learned from a few loads. */
const CANDIDATES_MIN = 24;

export function chooseRecorded({ engine, chromium, firefox }: ClaimedBrowser, draw: Draw): RecordedChoice[] {
  const version = engine === 'chromium' ? chromium : engine === 'firefox' ? firefox : 0;
  const recordings = engine === null ? [] : recordingsOf(engine);
  const at = recordings.findLastIndex((recording) => recording.version <= version);
  if (engine === null || at === -1 || engine === 'safari')
    return chosen(commonPlaces(), everyRecording().slice(0, 1), UNRECORDED);
  const isRecorded = recordings[at]!.version === version;
  const next = isRecorded ? at : at + 1;
  const neighbours = recordings.slice(at, next + 1);
  const weight = isRecorded || next < recordings.length ? KNOWN : NEWER;
  if (engine === 'firefox') return chosen(firefoxPlaces(), neighbours, weight);
  const later = draw.some(changedPlaces(next, 1), QUESTIONS);
  const earlier = draw.some(changedPlaces(at, -1), QUESTIONS);
  const fewer = Math.min(earlier.length, Math.max(QUESTIONS / 2, QUESTIONS - later.length));
  return chosen([...earlier.slice(0, fewer), ...later.slice(0, QUESTIONS - fewer)], neighbours, weight);

  function chosen(places: readonly number[], right: readonly Recording[], counts: number): RecordedChoice[] {
    return draw.some(places, QUESTIONS).map((place) => ({
      place,
      answers: [...new Set(right.map(({ answers }) => answers[place]!))],
      weight: counts,
    }));
  }
}

const changedFrom = new Map<string, readonly number[]>();

/**
 * Places whose answers differ between one recording of Chromium and the next: from the recording at `from` on, towards newer
 * or older ones, until there are enough.
 */
function changedPlaces(from: number, step: 1 | -1): readonly number[] {
  const key = `${from} ${step}`;
  const known = changedFrom.get(key);
  if (known !== undefined) return known;
  const recordings = recordingsOf('chromium');
  const places = new Set<number>();
  for (let at = from; places.size < CANDIDATES_MIN; at += step) {
    const [here, next] = [recordings[at]?.answers, recordings[at + step]?.answers];
    if (here === undefined || next === undefined) break;
    for (const [place, answer] of here.entries()) {
      if (answer !== next[place] && answer !== UNSTABLE && next[place] !== UNSTABLE) places.add(place);
    }
  }
  changedFrom.set(key, [...places]);
  return [...places];
}

const everyRecording = (): readonly Recording[] =>
  (['chromium', 'firefox', 'safari'] as const).flatMap((engine) => recordingsOf(engine));

function placesWhere(isWanted: (place: number) => boolean): () => readonly number[] {
  let places: readonly number[] | undefined;
  return () => (places ??= [...recordingsOf('firefox')[0]!.answers.keys()].filter(isWanted));
}
const answersAt = (recordings: readonly Recording[], place: number): Set<string> =>
  new Set(recordings.map(({ answers }) => answers[place]!));

const commonPlaces = placesWhere((place) => answersAt(everyRecording(), place).size === 1);
/** What Firefox has always answered otherwise than Chromium has. */
const firefoxPlaces = placesWhere((place) => {
  const [other, ...changed] = answersAt(recordingsOf('chromium'), place);
  const [own, ...ownChanged] = answersAt(recordingsOf('firefox'), place);
  return changed.length + ownChanged.length === 0 && own !== other && own !== UNSTABLE;
});
