/**
 * A program that compiles and signs rules and prints how much memory that takes at its peak: what is live and not what
 * is garbage, at each allocation of a large buffer. The rules arrive as the service reads them, in slices of rows.
 *
 *   node bench/rules/compile-memory.ts WORKLOAD COUNT
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { RulesetCompiler } from '../../src/rules/compiler.ts';
import { TRAILER_MAX_BYTES, signInPlace } from '../../src/rules/signing.ts';
import type { EdgeRule } from '../../src/rules/types.ts';
import { type MemoryWorkload, memoryWorkloads } from './workload.ts';

export interface CompileMemory {
  /** Of objects and buffers, without what the process had before. */
  peakBytes: number;
  fileBytes: number;
}

/** Smaller buffers are counted with the next large one. */
const LARGE_BYTES = 64 * 1024;
const ROWS_PER_SLICE = 2000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
let peakBytes = 0;

function liveBytes(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** `more` is allocated, but not yet counted. */
function measure(more = 0): void {
  peakBytes = Math.max(peakBytes, liveBytes() + more);
}

function watchAllocations(): void {
  for (const name of ['ArrayBuffer', 'Uint8Array', 'Uint16Array', 'Uint32Array'] as const) {
    Reflect.set(
      globalThis,
      name,
      new Proxy<new (...given: unknown[]) => { byteLength: number }>(Reflect.get(globalThis, name), {
        construct(target, given, newTarget: new () => unknown) {
          const made = Reflect.construct(target, given, newTarget) as { byteLength: number };
          if (made.byteLength >= LARGE_BYTES && typeof given[0] === 'number') measure();
          return made;
        },
      }),
    );
  }
  // While bytes are moved, both buffers exist.
  const { transfer } = ArrayBuffer.prototype;
  const measured = function (this: ArrayBuffer, bytes = this.byteLength): ArrayBuffer {
    if (bytes >= LARGE_BYTES) measure(bytes);
    return transfer.call(this, bytes);
  };
  Reflect.set(ArrayBuffer.prototype, 'transfer', measured);
}

/** In new objects and texts, as they come out of the database. */
function* slices(rules: Iterable<EdgeRule>): Generator<EdgeRule[]> {
  let rows: EdgeRule[] = [];
  for (const rule of rules) {
    rows.push(rule);
    if (rows.length < ROWS_PER_SLICE) continue;
    yield JSON.parse(JSON.stringify(rows)) as EdgeRule[];
    rows = [];
  }
  yield rows;
}

const [workload = '', count = ''] = process.argv.slice(2);
const rules = memoryWorkloads[workload as MemoryWorkload](Number(count));
const { privateKey } = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
const before = liveBytes();
watchAllocations();
const compiler = new RulesetCompiler({ instanceId: 'bench', version: 1, createdAtMs: 0 });
for (const slice of slices(rules)) {
  for (const rule of slice) compiler.add(rule);
}
const { file } = await signInPlace(compiler.finish(TRAILER_MAX_BYTES), { kid: 'bench', privateKey });
measure();
const result: CompileMemory = { peakBytes: peakBytes - before, fileBytes: file.length };
process.stdout.write(`${JSON.stringify(result)}\n`);
