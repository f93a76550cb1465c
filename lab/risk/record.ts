/**
 * `npm run record:risk -- tune|report [kind [part [name]]]`: runs browsers, curl and scripts against pages that carry the real
 * protect script, and writes their sessions to `test/fixtures/risk/`. The two sets use different variants of each
 * client. `-- probes PROGRAM...` records answers about engines instead. lab/README.md lists what must be installed.
 */
import { buildClient } from '../../scripts/build-client.ts';
import type { RecordedClient } from './client.ts';
import { drivenClients } from './driven-browsers.ts';
import { handClients } from './hand-browsers.ts';
import { otherDrivers } from './other-drivers.ts';
import { recordProbes } from './record-probes.ts';
import { Recorder } from './recorder.ts';
import { readRecording, type RecordedSession, type RecordedSet, writeRecording } from './recording.ts';
import { toolClients } from './tool-clients.ts';

/** On a busy machine a browser sometimes starts too late. */
const ATTEMPTS = 2;

const [set, kind, part = '1/1', text = ''] = process.argv.slice(2);
if (set === 'probes') {
  await recordProbes(process.argv.slice(3));
  process.exit(0);
}
if (set !== 'tune' && set !== 'report') {
  process.stderr.write('Usage: npm run record:risk -- tune|report [kind [part, for example 1/3 [part of the name]]]\n');
  process.exit(1);
}
const assets = await buildClient();
const files = ['protect.js', 'environment.js', 'pow-worker.js'];
const scripts = files.map((name) => [name, assets[name]!.body] as const);
const recorder = new Recorder(Object.fromEntries(scripts));
const url = await recorder.listen();
const clients = [...toolClients(set), ...drivenClients(set), ...otherDrivers(set), ...handClients(set, recorder.look)];
// A part is every nth client, so that several displays can share the work.
const [nth, of] = part.split('/').map(Number) as [number, number];
const wanted = clients.filter(
  (client) => (kind === undefined || client.kind === kind) && client.variant.includes(text),
);
for (const client of wanted.filter((_, index) => index % of === nth - 1)) {
  // One after another: the recorder takes every call to be of the client whose turn it is.
  const sessions = await record(client);
  if (sessions.length > 0) keep(set, client, sessions);
  process.stdout.write(`${client.kind} ${client.variant}: ${sessions.length} sessions\n`);
}
recorder.close();

async function record(client: RecordedClient, attempt = 1): Promise<RecordedSession[]> {
  recorder.begin(client);
  try {
    await client.drive(url);
    return recorder.end();
  } catch (error) {
    process.stderr.write(`${client.variant}: ${String(error)}\n`);
    return attempt === ATTEMPTS ? [] : record(client, attempt + 1);
  }
}

/** Replaces what was recorded of this client before. Written at once, because recording everything takes half an hour. */
function keep(into: RecordedSet, client: RecordedClient, sessions: readonly RecordedSession[]): void {
  const others = readRecording(into).filter(({ network }) => network !== client.network);
  writeRecording(into, [...others, ...sessions]);
}
