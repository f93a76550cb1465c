/**
 * The format of recorded sessions: what an edge reports of a client, and what its pages reported. Times count from the
 * session's opening.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { clientHeaders } from '../../src/contract/edge/edge-api.ts';
import { environmentReport, telemetryReport } from '../../src/contract/edge/page-reports.ts';

/**
 * `headless`: a browser without a window, under a driver; `stealth`: the same with its traces hidden. `window`: a driven
 * browser with a window; `window-stealth`: the same with its traces hidden. `os-input`: a browser without a driver, under
 * a tool that uses the system's pointer and keyboard. `person-like`: the same with input like a person's, because no
 * person was recorded.
 */
export const recordedKinds = [
  'headless',
  'stealth',
  'curl',
  'script',
  'window',
  'window-stealth',
  'os-input',
  'person-like',
] as const;
export type RecordedKind = (typeof recordedKinds)[number];

/** Weights are set by `tune`. `report` is only counted. */
export type RecordedSet = 'tune' | 'report';

const event = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('call'),
    atMs: z.int(),
    userAgent: z.string(),
    headers: clientHeaders,
    /** What the page reported when it opened its session. */
    environment: z.optional(environmentReport),
  }),
  z.strictObject({ type: z.literal('report'), atMs: z.int(), report: telemetryReport }),
]);

const recordedSession = z.strictObject({
  kind: z.enum(recordedKinds),
  variant: z.string(),
  /** Sessions with the same name came one after another from one network. */
  network: z.string(),
  events: z.array(event).check(z.minLength(1)),
});
export type RecordedSession = z.infer<typeof recordedSession>;

const folder = new URL('../../test/fixtures/risk/', import.meta.url);
const fileOf = (set: RecordedSet): URL => new URL(`${set}.json`, folder);

export function readRecording(set: RecordedSet): RecordedSession[] {
  return existsSync(fileOf(set))
    ? z.parse(z.array(recordedSession), JSON.parse(readFileSync(fileOf(set), 'utf8')))
    : [];
}

/** One session a line, so that a new recording shows as changed lines. */
export function writeRecording(set: RecordedSet, sessions: readonly RecordedSession[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(fileOf(set), `[\n${sessions.map((session) => JSON.stringify(session)).join(',\n')}\n]\n`);
}
