/**
 * Every Durable Object starts on the state of each format that was in use (`test/fixtures/formats`, written by
 * `scripts/write-format-fixtures.ts`), or refuses it in a sentence that health repeats.
 */
import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { expect, test } from 'vitest';
import { expectRows } from '../support/rows.ts';
import type { VerdictShard } from '../../src/store/event-log/shard/verdict-shard.ts';
import { HotRows } from '../../src/store/event-log/shard/hot-rows.ts';
import { captchaCourse } from '../support/captcha-course.ts';
import { testNow } from '../support/clock.ts';
import { send, serviceEnv } from './service/service-under-test.ts';

/** Vite replaces the call by the files. */
declare global {
  interface ImportMeta {
    glob<Content>(pattern: string, options: object): Record<string, Content>;
  }
}

const fixtures = import.meta.glob<string>('../fixtures/formats/*/*.sql', {
  query: '?raw',
  import: 'default',
  eager: true,
});

const classes = {
  AttackWatch: serviceEnv.ATTACK_WATCH,
  LimitLedger: serviceEnv.LIMIT_LEDGER,
  RiskBook: serviceEnv.RISK_BOOK,
  RuleBook: serviceEnv.RULE_BOOK,
  SpendLedger: serviceEnv.SPEND_LEDGER,
  VerdictShard: serviceEnv.VERDICT_SHARD,
} as unknown as Record<string, DurableObjectNamespace>;

let objects = 0;

/** An object whose database holds these statements and nothing else, before its class opens it. */
async function objectWith(className: string, source: string): Promise<DurableObjectStub> {
  objects += 1;
  const stub = classes[className]!.getByName(`format-${objects}`);
  await runInDurableObject(stub, (_, { storage }) => {
    const made = storage.sql.exec<{ type: string; name: string }>(
      `SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT GLOB '_cf_*'`,
    );
    for (const { type, name } of made.toArray()) storage.sql.exec(`DROP ${type} ${name}`);
    for (const statement of source.split(';\n')) if (statement.trim() !== '') storage.sql.exec(statement);
  });
  await evictDurableObject(stub);
  return stub;
}

async function tablesOf(stub: DurableObjectStub): Promise<string[]> {
  return runInDurableObject(stub, (_, { storage }) =>
    storage.sql
      .exec<{ sql: string }>(
        `SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT GLOB '*_[0-9]*' ORDER BY name`,
      )
      .toArray()
      .map(({ sql }) => sql.replaceAll(/\s+/g, ' ').replaceAll('( ', '(').replaceAll(' )', ')').replaceAll(' ,', ',')),
  );
}

const older = new Set(['0-row-logs/VerdictShard']);
const stored = Object.entries(fixtures).map(([path, source]) => {
  const [, format, className] = /formats\/(.+)\/(.+)\.sql$/.exec(path) as unknown as [string, string, string];
  return { format, className, source };
});
/** Version 1 are the tables that had no version before it. */
const unversioned = stored
  .filter(({ format }) => format === '1')
  .map(({ className, source }) => {
    const statements = source.split('\n').filter((line) => !/^(CREATE TABLE|INSERT INTO) format /.test(line));
    return { format: '0, without a version', className, source: statements.join('\n') };
  });
const cases = [...stored, ...unversioned];

test('every object takes over the tables of every format, and has those of an object that is made now', () =>
  expectRows(
    cases.filter(({ format, className }) => !older.has(`${format}/${className}`)),
    async ({ className, source }) => {
      const stub = await objectWith(className, source);
      const made = await tablesOf(classes[className]!.getByName('made-now'));
      expect(await tablesOf(stub)).toEqual(made);
      await evictDurableObject(stub);
      expect(await tablesOf(stub)).toEqual(made);
    },
    ({ className, format }) => [className, format],
  ));

/** Rows of the tables whose names match. */
async function rowsOf(stub: DurableObjectStub, tables: string): Promise<Record<string, unknown>[]> {
  return runInDurableObject(stub, (_, { storage: { sql } }) =>
    sql
      .exec<{ name: string }>(`SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB ?`, tables)
      .toArray()
      .flatMap(({ name }) => sql.exec(`SELECT * FROM ${name}`).toArray()),
  );
}

const rowsKept = [
  ['sessions', '0-row-logs/RiskBook', 'sessions_[0-9]*', ['5yjF_wqY7y-4JFOXyJ7MsEA', '5A1uewx69U11VCS58Vns3Pw'], 'jti'],
  ['uses of keys', '0-row-logs/SpendLedger', 'uses_[0-9]*', ['attempts:192.0.2.0/24'], 'key'],
  ['spent tokens', '0-row-logs/SpendLedger', 'spent_[0-9]*', [expect.stringContaining('session:')], 'key'],
  ['rules', '1/RuleBook', 'rules', ['badbot', '203.0.113.0/24'], 'value'],
] as const;

test('the rows of an older format are there afterwards', () =>
  expectRows(rowsKept, async ([, fixture, tables, values, column]) => {
    const source = fixtures[`../fixtures/formats/${fixture}.sql`] as string;
    const rows = await rowsOf(await objectWith(fixture.split('/')[1] as string, source), tables);
    const found = rows.map((row) => row[column]);
    expect(found).toHaveLength(values.length);
    expect(found).toEqual(expect.arrayContaining([...values]));
  }));

test('captchas of format 1 stay, and those that were counted are not counted again', async () => {
  const start = testNow() - 60_000;
  const events = [captchaCourse('acc', start, 1).slice(0, 2), captchaCourse('acc', start, 2)];
  const source = [
    fixtures['../fixtures/formats/1/VerdictShard.sql'],
    ...events.map((batch, index) => `INSERT INTO captcha_batches VALUES (${900 + index}, '${JSON.stringify(batch)}')`),
    `INSERT INTO meta VALUES ('merged', '[900,100000]')`,
  ].join(';\n');
  const stub = await objectWith('VerdictShard', source);
  await runInDurableObject(stub, (_, { storage }) => {
    const taken = new HotRows(storage);
    expect(taken.captchas.size).toBe(2);
    // Each event of the second captcha: counted, taken away, counted.
    expect(taken.pending.rows).toBe(5);
    const bodies = [...taken.captchas.all()];
    taken.mergePending();
    expect([...new HotRows(storage).captchas.all()]).toEqual(bodies);
    expect(storage.sql.exec('SELECT * FROM captcha_batches').toArray()).toEqual([]);
  });
});

test('a captcha log of format 1 that had room for more has it still', async () => {
  const captchas = 100;
  const start = testNow() - 600_000;
  const source = [
    fixtures['../fixtures/formats/1/VerdictShard.sql'],
    ...Array.from({ length: captchas }, (_, number) => {
      return `INSERT INTO captcha_batches VALUES (${number + 1}, '${JSON.stringify(captchaCourse('acc', start, number))}')`;
    }),
    `INSERT INTO meta VALUES ('merged', '[${captchas},100000]')`,
    // Format 1 counted the records, of 700 bytes, and 600 bytes for each.
    `INSERT INTO meta VALUES ('hot_bytes_max', '${captchas * 1300}')`,
  ].join(';\n');
  const stub = (await objectWith('VerdictShard', source)) as DurableObjectStub<VerdictShard>;
  const next = captchaCourse('acc', start, captchas);
  expect(await stub.appendCaptchas(next, { retentionDays: 30 })).toMatchObject({ accepted: next.length });
});

/** Calls a method that every start of the object comes before. */
async function refusal(stub: DurableObjectStub): Promise<string> {
  return runInDurableObject(stub, () => 'it starts').catch((error: unknown) => (error as Error).message);
}

async function warnings(): Promise<string[]> {
  const response = await send('/health');
  return ((await response.json()) as { warnings?: string[] }).warnings ?? [];
}

test('every object refuses state of a newer version in one sentence, and health says so', () =>
  expectRows(Object.keys(classes), async (className) => {
    const stub = await objectWith(
      className,
      'CREATE TABLE format (one INTEGER PRIMARY KEY, version INTEGER NOT NULL);\nINSERT INTO format VALUES (1, 999);\n',
    );
    expect(await refusal(stub)).toMatch(
      new RegExp(
        `^${className} holds state of a newer version \\(999, this one reads up to \\d+\\): deploy the newer version again\\.$`,
      ),
    );
    await expect
      .poll(warnings)
      .toContainEqual(expect.stringContaining(`1 ${className} object(s) hold state of a version that is newer`));
  }));

test('a log whose rows this version cannot take over is refused as older', async () => {
  const source = fixtures['../fixtures/formats/0-row-logs/VerdictShard.sql'] as string;
  const stub = await objectWith('VerdictShard', source);
  expect(await refusal(stub)).toMatch(
    /^VerdictShard holds state of an older version that this one cannot take over \(/,
  );
  await expect
    .poll(warnings)
    .toContainEqual(expect.stringContaining('1 VerdictShard object(s) hold state of a version that is older'));
});
