/** The live tail against a service that is away, refuses, or has archived verdicts before they were asked for. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { gatehouse } from '../../support/gatehouse.ts';
import { eventually } from '../../support/eventually.ts';
import { verdictRecordOf } from '../../support/verdict-record.ts';
import { testNow } from '../../support/clock.ts';

type Answer = { status?: number; body: object };
interface Call {
  path: string;
  body: { cursor?: string; since?: number };
}

let server: Server;
let url = '';
let calls: Call[] = [];
/** What the service says to the call with this number, and to all after the last. */
let answers: ((call: Call) => Answer | null)[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const call = { path: request.url ?? '', body: JSON.parse(Buffer.concat(chunks).toString()) } as Call;
      calls.push(call);
      const answer = (answers.length > 1 ? answers.shift()! : answers[0]!)(call);
      if (answer === null) return void request.socket.destroy();
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  calls = [];
});

const verdict = (path: string, timestamp = testNow()) => verdictRecordOf('instance', { timestamp, request_path: path });
const page = (cursor: string, verdicts: object[] = [], rest: object = {}) => ({
  body: { verdicts, cursor, more: false, missed: 0, ...rest },
});
const refusal = (status: number) => ({
  status,
  body: { error: { code: status, message: 'No', key: 'API.NO', details: [] } },
});

async function tailed(until: (output: string) => boolean, ...flags: string[]) {
  const end = new AbortController();
  let shown = '';
  const ended = gatehouse(['tail', '--service', url, ...flags], {
    env: { GATEHOUSE_API_KEY: 'key' },
    signal: end.signal,
    onOutput: (text) => (shown += text),
  });
  let isEnded = false;
  void ended.then(() => (isEnded = true));
  await eventually(
    async () => shown,
    (output) => isEnded || until(output),
  );
  end.abort();
  return {
    ...(await ended),
    paths: shown.split('\n').flatMap((line) => /"request_path":"([^"]*)"/.exec(line)?.[1] ?? []),
  };
}

test('a lost response is asked for again at the same cursor, and shown once', async () => {
  const [a, b] = [verdict('/a'), verdict('/b')];
  answers = [
    () => page('1', [a]),
    () => null,
    () => refusal(503),
    () => page('2', [b]),
    ({ body }) => (body.cursor === '2' ? page('2') : page('2', [b])),
  ];
  const { exitCode, paths, errors } = await tailed((output) => output.includes('/b'));
  expect([exitCode, paths]).toEqual([0, ['/a', '/b']]);
  expect(calls.slice(1, 4).map(({ body }) => body.cursor)).toEqual(['1', '1', '1']);
  expect(errors.split('\n')).toEqual([expect.stringContaining('Trying again until Ctrl-C.'), 'Connected again.']);
});

test('verdicts that were archived before they were asked for are read from the log, oldest first, each once', async () => {
  const now = testNow();
  const known = verdict('/known', now - 3000);
  const [x, y, z] = [verdict('/x', now - 2000), verdict('/y', now - 1000), verdict('/z', now)];
  answers = [
    () => page('1', [known]),
    () => page('2', [z], { missed: 2 }),
    ({ body }) => ({
      body:
        body.cursor === undefined
          ? { verdicts: [y], nextCursor: 'older', total: 3, totalIsExact: true }
          : { verdicts: [x, known], nextCursor: null, total: 3, totalIsExact: true },
    }),
    ({ body }) => ({ body: { verdicts: body.cursor === 'older' ? [x, known] : [], nextCursor: null, total: 3 } }),
    () => page('2'),
  ];
  const { paths } = await tailed((output) => output.includes('/z'), '--decision', 'allow');
  expect(paths).toEqual(['/known', '/x', '/y', '/z']);
  expect(calls.filter(({ path }) => path === '/protect/verdicts')).toHaveLength(2);
  for (const { body } of calls) expect(body).toMatchObject({ decision: ['allow'] });
});

test('verdicts before its start are not shown when it catches up', async () => {
  const now = testNow();
  const old = [verdict('/old/1', now - 2000), verdict('/old/2', now - 1000)];
  const missed = verdict('/missed', now);
  answers = [
    () => page('1', old),
    () => page('2', [], { missed: 1 }),
    () => ({ body: { verdicts: [missed, ...old.toReversed()], nextCursor: null, total: 3 } }),
    () => page('2'),
  ];
  const { paths } = await tailed((output) => output.includes('/missed'), '--last', '1');
  expect(paths).toEqual(['/old/2', '/missed']);
});

test.each([401, 403, 400])('a refusal with %i ends it with one line', async (status) => {
  answers = [() => page('1'), () => refusal(status)];
  const { exitCode, errors } = await tailed(() => false);
  expect([exitCode, errors]).toEqual([
    1,
    `The service refused /protect/verdicts/tail with status ${status}, API.NO: No`,
  ]);
});

test('a URL at which no service is fails at once', async () => {
  answers = [() => null];
  const { exitCode, errors } = await tailed(() => false);
  expect([exitCode, errors]).toEqual([1, expect.stringMatching(/cannot be reached\. Check the URL/)]);
  expect(calls).toHaveLength(1);
});
