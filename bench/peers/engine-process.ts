/**
 * A process of its own for one engine, so that its memory can be told from that of others:
 *
 *   node bench/peers/engine-process.ts ENGINE FOLDER
 *
 * Loads the engine, then does each task that its parent sends, one at a time.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { residentBytes } from '../measure/resident-memory.ts';
import { type EngineKind, type EngineName, engines, files } from './engines.ts';

export interface Loaded {
  milliseconds: number;
  residentBytes: number;
}

/** Looks up as many addresses as fit into the time, from the first one on, again and again. */
export interface Task {
  milliseconds: number;
}

export interface Done {
  lookUps: number;
  nanosecondsEach: number;
  /** Of the first addresses, each address once. */
  answers: number[];
}

/** The clock is read once for so many look-ups. A slow engine starts with one. */
const LOOK_UPS_PER_READING_MAX = 4096;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const [name = '', folder = ''] = process.argv.slice(2);
const addresses = readFileSync(join(folder, files.addresses), 'utf8').split('\n');
const engine: EngineKind = engines[name as EngineName];

collect();
const before = residentBytes(process.pid);
const startedAt = performance.now();
const lookUp = await engine.load(folder);
const first = lookUp(addresses[0] ?? '');
const milliseconds = performance.now() - startedAt;
collect();
send({ milliseconds, residentBytes: residentBytes(process.pid) - before } satisfies Loaded);

process.on('message', ({ milliseconds: allowed }: Task) => {
  const answers = new Uint8Array(addresses.length);
  let at = 0;
  let lookUps = 0;
  let perReading = 1;
  const from = performance.now();
  let elapsed = 0;
  while (elapsed < allowed) {
    const until = Math.min(addresses.length, at + perReading);
    const count = until - at;
    for (; at < until; at++) answers[at] = lookUp(addresses[at]!);
    lookUps += count;
    if (at === addresses.length) at = 0;
    elapsed = performance.now() - from;
    perReading = Math.min(LOOK_UPS_PER_READING_MAX, perReading * 2, Math.ceil((allowed / elapsed) * lookUps));
  }
  const known = [...answers.subarray(0, Math.min(lookUps, addresses.length))];
  if (known[0] !== first) throw new Error('The first address has another answer now');
  send({ lookUps, nanosecondsEach: (elapsed * 1e6) / lookUps, answers: known } satisfies Done);
});

function send(result: Loaded | Done): void {
  process.send?.(result);
}
