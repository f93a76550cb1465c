/**
 * The traffic that a bill is for. What a caller leaves out is proposed from the number of requests: how many verdicts
 * make a batch, how many locations poll, how many shards the log needs.
 */
import {
  BATCH_VERDICTS_MAX,
  INDEX_BYTES_PER_VERDICT,
  LOAD_VERDICTS,
  OBJECT_BYTES_MAX,
  OBJECT_CALLS_PER_SECOND_MAX,
  OBJECT_FILLED_MAX,
  SHARDS_MAX,
  WINDOW_SECONDS,
  WINDOW_UNDER_LOAD_SECONDS,
} from './usage.ts';

const DAY_SECONDS = 86_400;
/** The busiest second of a day, compared with the mean. */
const PEAK_FACTOR = 5;
const RETENTION_DAYS = 30;
const REQUESTS_PER_SESSION = 20;
const REQUESTS_PER_CHALLENGE = 100;
const VERDICTS_PER_NEW_TEXT = 200;
const LOCATIONS_MAX = 300;

export interface Traffic {
  /** Requests, each of which is a verdict. */
  perDay: number;
  /** Requests per session, per challenge, and per text that a shard has not counted yet. 0: none. */
  sessionsPer: number;
  challengesPer: number;
  textsPer: number;
  /** Verdicts in a batch. */
  batch: number;
  locations: number;
  retentionDays: number;
  shards: number;
  /** The edge calls the service over a service binding, as in `wrangler.toml`, and not over its URL. */
  serviceBinding: boolean;
}

export type GivenTraffic = Pick<Traffic, 'perDay'> & { [Name in keyof Traffic]?: Traffic[Name] | undefined };

export function trafficOf(given: GivenTraffic): Traffic {
  const { perDay } = given;
  const batch = given.batch ?? proposedBatch(perDay);
  const retentionDays = given.retentionDays ?? RETENTION_DAYS;
  return {
    perDay,
    sessionsPer: given.sessionsPer ?? REQUESTS_PER_SESSION,
    challengesPer: given.challengesPer ?? REQUESTS_PER_CHALLENGE,
    textsPer: given.textsPer ?? VERDICTS_PER_NEW_TEXT,
    batch,
    locations: given.locations ?? proposedLocations(perDay),
    retentionDays,
    shards: given.shards ?? proposedShards(perDay, batch, retentionDays),
    serviceBinding: given.serviceBinding ?? true,
  };
}

/** 10 for a million requests a day, 100 for a hundred million, and no more than there are. */
function proposedLocations(perDay: number): number {
  return Math.min(LOCATIONS_MAX, Math.max(1, Math.round(10 * Math.sqrt(perDay / 1_000_000))));
}

/** Isolates that share most of the traffic: more traffic meets more of them, and more in each. */
function busyIsolates(perDay: number): number {
  return Math.max(1, 1.5 * (perDay / 1_000_000) ** 0.6);
}

function proposedBatch(perDay: number): number {
  const perSecond = perDay / DAY_SECONDS / busyIsolates(perDay);
  // The first verdict opens the window.
  const inWindow = (seconds: number): number => 1 + perSecond * seconds;
  const isLoad = inWindow(WINDOW_SECONDS) >= LOAD_VERDICTS;
  return Math.min(BATCH_VERDICTS_MAX, Math.round(inWindow(isLoad ? WINDOW_UNDER_LOAD_SECONDS : WINDOW_SECONDS)));
}

/** Verdicts a second of an isolate whose batches are so large: the reverse of the proposal. */
export function isolateRate(batch: number): number {
  return (batch - 1) / (batch >= LOAD_VERDICTS ? WINDOW_UNDER_LOAD_SECONDS : WINDOW_SECONDS);
}

/** A power of two, so that a log grows by doubling. The room in an object decides, or the calls in the busiest second. */
function proposedShards(perDay: number, batch: number, retentionDays: number): number {
  const bytes = perDay * retentionDays * INDEX_BYTES_PER_VERDICT;
  const calls = ((perDay / batch) * PEAK_FACTOR) / DAY_SECONDS;
  const needed = Math.max(bytes / (OBJECT_BYTES_MAX * OBJECT_FILLED_MAX), calls / OBJECT_CALLS_PER_SECOND_MAX);
  return Math.min(SHARDS_MAX, 2 ** Math.max(0, Math.ceil(Math.log2(needed))));
}
