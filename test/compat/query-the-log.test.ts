/**
 * Engines of other people read the sealed log, from npm, on a copy of the bucket of a running stack. The queries of
 * DuckDB are the ones that docs/query-the-log.md prints, and their results are those of the management API.
 */
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type DuckDBConnection, DuckDBInstance, type Json } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CommandResult } from '../../src/cli/command-line.ts';
import { runInStack } from '../../src/cli/control.ts';
import type { LogCopy } from '../../src/cli/database/log-copy.ts';
import { StateDir } from '../../src/cli/state.ts';
import type { VerdictRecord } from '../../src/contract/edge/verdict-record.ts';
import { gatehouse } from '../support/gatehouse.ts';
import { eventually, manage, useStack } from '../support/stack.ts';
import { seededRandom, sinkBatchOf, variedRecord } from '../support/verdict-record.ts';
import { stackNow } from '../support/clock.ts';
import { verdictSchema } from '../../src/store/event-log/parquet/verdict-schema.ts';
import { engines } from './parquet-engines.ts';

/** All are older than a day, so each of them is sealed once a shard begins to. */
const VERDICTS = 3000;
const BATCH = 500;
/** So that thousands of verdicts are enough, in several files a day. */
const SMALL_SHARD = { hot_rows_max: VERDICTS, segment_rows: 600 };
const DAY_MS = 86_400_000;

const stack = useStack();
const copyDir = mkdtempSync(join(tmpdir(), 'gatehouse-copy-'));
const since = Math.floor(stackNow() / DAY_MS) * DAY_MS - 5 * DAY_MS;
const until = since + 3 * DAY_MS;
/** The stack's own edge has verdicts in the log too. */
const ISOLATE = 'isolate-query';
const window = { since: new Date(since).toISOString(), until: new Date(until).toISOString() };
let duckdb: DuckDBConnection;
let sent: VerdictRecord[];

beforeAll(async () => {
  const random = seededRandom(11);
  sent = Array.from({ length: VERDICTS }, (_, at): VerdictRecord => {
    const record = variedRecord(stack().instanceId, since + Math.floor(((until - since) * at) / VERDICTS), random, at);
    // Edges write one id as both.
    return { ...record, request_id: record.id, edge: { ...record.edge, isolate: ISOLATE } };
  });
  await append(sent.slice(0, BATCH));
  await stack().stopService();
  boundShards();
  await stack().startService();
  for (let start = BATCH; start < VERDICTS; start += BATCH) await append(sent.slice(start, start + BATCH));
  duckdb = await (await DuckDBInstance.create(':memory:')).connect();
  await eventually(
    async () => {
      await copy();
      return existsSync(join(copyDir, 'verdicts')) ? rows('SELECT count(*)::INT AS n FROM verdicts') : [{ n: 0 }];
    },
    ([sealed]) => sealed?.['n'] === VERDICTS,
  );
});
afterAll(() => {
  duckdb?.closeSync();
  rmSync(copyDir, { recursive: true, force: true });
});

async function append(records: readonly VerdictRecord[]): Promise<void> {
  const response = await fetch(`${stack().serviceUrl}/edge/v1/verdicts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${stack().clientJwt}` },
    body: JSON.stringify(sinkBatchOf(`query-${records[0]?.edge.seq}`, records)),
  });
  expect(await response.json()).toMatchObject({ accepted: records.length });
}

/** In the files of the stopped service. */
function boundShards(): void {
  const folder = join(stack().stateDir, 'service', 'do', 'gatehouse-service-VerdictShard');
  for (const name of readdirSync(folder).filter((one) => /^[0-9a-f]+\.sqlite$/.test(one))) {
    const database = new DatabaseSync(join(folder, name));
    for (const [key, value] of Object.entries(SMALL_SHARD)) {
      database.prepare('INSERT INTO meta (key, value) VALUES (?, ?)').run(key, String(value));
    }
    database.close();
  }
}

test('a copy shows on a terminal how many of all files are done', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'gatehouse-copied-'));
  const ran = await gatehouse(['log', 'copy', dir], { state: stack().stateDir, showsProgress: true });
  rmSync(dir, { recursive: true });
  const { copied } = JSON.parse(ran.output) as LogCopy;
  expect(ran.errors).toMatch(new RegExp(`\\] \\d+ %  \\d+ of ${copied} files`));
});

async function copyTo(dir: string): Promise<CommandResult> {
  const running = await new StateDir(stack().stateDir).claimOrReach('command');
  if (running === null) throw new Error('The stack does not run');
  return runInStack(running, ['log', 'copy', dir]);
}

const copy = async (): Promise<LogCopy> => JSON.parse((await copyTo(copyDir)).output) as LogCopy;

/** Files of the records above only: the stack's own edge has none that is old enough to be sealed. */
function sealedFiles(): string[] {
  const folder = join(copyDir, 'verdicts');
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.parquet')).map((name) => join(folder, name));
}

/** The statements of the page, by the heading that they are under. */
function documented(heading: string): string {
  const page = readFileSync('docs/query-the-log.md', 'utf8');
  const section = page.slice(page.indexOf(`\n## ${heading}\n`) + 1);
  const end = section.indexOf('\n## ');
  const blocks = [...section.slice(0, end < 0 ? undefined : end).matchAll(/^```sql\n([\s\S]*?)^```$/gm)];
  return blocks.map(([, text = '']) => text).join('\n');
}

async function rows(query: string): Promise<Record<string, Json>[]> {
  const [view = ''] = documented('DuckDB').split(';');
  const all = view.replaceAll('verdict-log/', `${copyDir}/`).replaceAll('INSTANCE', stack().instanceId);
  await duckdb.run(`${all} WHERE edge_isolate = '${ISOLATE}'`);
  return (await duckdb.runAndReadAll(query)).getRowObjectsJson();
}

/** The documented statement that begins with this comment. */
async function answer(comment: string): Promise<Record<string, Json>[]> {
  const statement = documented('DuckDB')
    .split(';')
    .find((text) => text.includes(`-- ${comment}`));
  if (statement === undefined) throw new Error(`The page has no query "${comment}"`);
  return rows(statement);
}

/** Value and count of each row. */
const pairs = (found: Record<string, Json>[]): [Json, number][] =>
  found.map((row) => Object.values(row)).map(([value = null, requests]) => [value, Number(requests)]);

type Counted = Record<'total' | 'allow' | 'challenge' | 'block', number>;

/** The ten largest values, as the API has them. */
async function largest(groupBy: string): Promise<[string | null, number][]> {
  const { series } = await manage<{ series: (Counted & { value: string | null })[] }>(
    stack(),
    '/protect/traffic-by-dimension',
    // One more, because verdicts without a value are one of the values.
    { ...window, groupBy, topN: 11, bucket: 'day' },
  );
  return series
    .filter(({ value }) => value !== null)
    .map(({ value, total }): [string | null, number] => [value, total])
    .slice(0, 10);
}

/** Values with the same count, in an order of their own. */
const inOrder = (found: [Json, number][]): [Json, number][] =>
  found.toSorted(([a, n], [b, m]) => m - n || (String(a) < String(b) ? -1 : 1));

test('its totals by decision and by day are those of the traffic summary', async () => {
  const summary = await manage<Counted & { buckets: (Counted & { timestamp: number })[] }>(
    stack(),
    '/protect/traffic-summary',
    { ...window, bucket: 'day' },
  );
  expect(summary.total).toBe(VERDICTS);
  const { allow, challenge, block } = summary;
  expect(Object.fromEntries(pairs(await answer('by decision')))).toEqual({ allow, challenge, block });
  const days = summary.buckets.map(({ timestamp, total }) => [new Date(timestamp).toISOString().slice(0, 10), total]);
  expect(pairs(await answer('by day'))).toEqual(days);
});

test.each([
  ['the user agents with the most requests', 'user_agent'],
  ['the rules that fired most', 'fired_rule'],
])('%s are those of the API', async (comment, groupBy) => {
  expect(inOrder(pairs(await answer(comment)))).toEqual(inOrder(await largest(groupBy)));
});

test('the JSON of what was decided from is read by its fields', async () => {
  const found = await answer('what was decided where the risk score said something');
  const said = sent.filter(({ inputs }) => inputs?.risk);
  expect(said.length).toBeGreaterThan(100);
  expect(found.reduce((sum, { requests }) => sum + Number(requests), 0)).toBe(said.length);
  expect(new Set(found.map(({ risk }) => risk))).toEqual(new Set(said.map(({ inputs }) => inputs?.risk?.verdict)));
});

test('each documented query runs, and the schema has the documented types', async () => {
  for (const statement of documented('DuckDB').split(';')) if (statement.includes('--')) await rows(statement);
  const types = Object.fromEntries(
    (await rows('DESCRIBE verdicts')).map(({ column_name: name, column_type: type }) => [name, type]),
  );
  expect(types).toMatchObject({
    timestamp: 'TIMESTAMP WITH TIME ZONE',
    fired_rule_ids: 'VARCHAR[]',
    ip_category: 'VARCHAR[]',
    date: 'DATE',
    instance: 'VARCHAR',
    decision: 'VARCHAR',
  });
});

test.each(Object.keys(engines))('%s reads every column of a sealed file', async (engine) => {
  const wanted = new Map(
    sent.map((record) => [record.id, { ...verdictSchema.flatten(record as never), record: null }]),
  );
  const [file = ''] = sealedFiles();
  const found = await engines[engine]!(file);
  expect(found.length).toBeGreaterThan(100);
  expect(found).toEqual(found.map(({ id }) => wanted.get(id as string)));
});

test('a request is found by its reference', async () => {
  const { id, request_path: path } = sent[1234]!;
  expect(await rows(`SELECT id, request_path FROM verdicts WHERE request_id = '${id}'`)).toEqual([
    { id, request_path: path },
  ]);
});

test('every column has a number for Iceberg, and no list can be null, as ClickHouse wants it', async () => {
  const [file = ''] = sealedFiles();
  const schema = await rows(`FROM parquet_schema('${file}')`);
  const named = schema.filter(({ name }) => name !== 'root' && name !== 'list');
  const ids = named.map(({ field_id: number }) => number);
  expect(ids).not.toContain(null);
  expect(new Set(ids).size).toBe(named.length);
  const lists = schema.filter(({ converted_type: type }) => type === 'LIST');
  expect(lists.map(({ repetition_type: repetition }) => repetition)).toEqual(lists.map(() => 'REQUIRED'));
  expect(lists.map(({ name }) => name)).toContain('bot_behaviours');
});

test('a copy is brought up to date: what is there stays, and what was erased is removed', async () => {
  const before = await copy();
  expect(before).toMatchObject({ copied: 0, removed: 0 });
  expect(before.unchanged).toBeGreaterThan(3);
  const [session] = await rows(
    'SELECT jti, count(*)::INT AS n FROM verdicts WHERE jti IS NOT NULL GROUP BY jti LIMIT 1',
  );
  const { erased } = await manage<{ erased: number }>(stack(), '/protect/sessions/erase', { jti: session?.['jti'] });
  expect(erased).toBe(session?.['n']);
  const after = await copy();
  expect(after.copied).toBeGreaterThan(0);
  expect(after.removed).toBe(after.copied);
  expect(await rows('SELECT count(*)::INT AS n FROM verdicts')).toEqual([{ n: VERDICTS - erased }]);
});

test('a folder that cannot be written is named, and other files in the folder stay', async () => {
  const other = join(copyDir, 'verdicts', 'notes.parquet');
  writeFileSync(other, 'mine');
  await copy();
  expect(readFileSync(other, 'utf8')).toBe('mine');
  const { exitCode, output } = await copyTo(other);
  expect(exitCode).toBe(1);
  expect(output).toContain(`${other} cannot be written.`);
});
