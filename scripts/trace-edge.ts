/**
 * `node scripts/trace-edge.ts [--list JOURNEY]`: what a reader goes through who follows a request through the edge. A
 * call takes the reader to the file of the called function, and its end takes them back to the caller. A return is an end
 * that leads back to another file, so a reader leaves and comes back to a file that many times in all. Counted is what
 * happens from `fetch(request, env, ctx)` to the response and the record, in functions of `src/`; not the start of the
 * isolate, its first config and rules, or the work of a request after its response. `--list` prints the files of one journey in
 * the order of their first call, each with its number of calls.
 */
import { parseArgs } from 'node:util';
import { callsByFile, figuresOf } from './trace-edge/calls.ts';

const { values } = parseArgs({ options: { list: { type: 'string' } } });
// Loaded later, because only calls of what is loaded after `calls.ts` are recorded.
const { journeys, trace } = await import('./trace-edge/journeys.ts');

if (values.list === undefined) {
  const rows: Record<string, object> = {};
  for (const [name, journey] of Object.entries(journeys)) {
    rows[name] = { journey: journey.title, ...figuresOf(await trace(journey)) };
  }
  console.table(rows);
} else {
  const journey = journeys[values.list];
  if (journey === undefined) throw new Error(`Journeys: ${Object.keys(journeys).join(', ')}`);
  const calls = await trace(journey);
  for (const [file, count] of callsByFile(calls)) console.log(`${String(count).padStart(4)}  ${file}`);
  const { files, returns } = figuresOf(calls);
  console.log(`${files} files, ${returns} returns, ${calls.length} calls`);
}
