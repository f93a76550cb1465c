/** A stack on the state of another one: files that do not belong together are refused before anything is served. */
import { randomBytes } from 'node:crypto';
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OperatorError } from '../../src/cli/operator-error.ts';
import { startTestStack } from '../support/stack.ts';

let made: string;
let copy: string;

beforeAll(async () => {
  made = mkdtempSync(join(tmpdir(), 'gatehouse-made-'));
  copy = `${made}-copy`;
  const stack = await startTestStack({ stateDir: made });
  await stack.stop();
});
afterAll(() => {
  for (const dir of [made, copy]) rmSync(dir, { recursive: true, force: true });
});

function databaseFiles(): string[] {
  const folder = join(copy, 'service', 'd1', 'miniflare-D1DatabaseObject');
  const names = readdirSync(folder).filter((name) => !name.startsWith('metadata'));
  return names.map((name) => join(folder, name)).toSorted();
}

const mixtures: [string, () => void, RegExp][] = [
  ['no seed.json', () => rmSync(join(copy, 'seed.json')), /seed\.json does not belong to the database/],
  [
    'the key of another stack',
    () => {
      const path = join(copy, 'secrets.json');
      const secrets = JSON.parse(readFileSync(path, 'utf8')) as object;
      writeFileSync(path, JSON.stringify({ ...secrets, masterKey: randomBytes(32).toString('base64url') }));
    },
    /secrets\.json does not belong to the database/,
  ],
  [
    'an empty database',
    () => databaseFiles().forEach((file) => rmSync(file)),
    /seed\.json does not belong to the database/,
  ],
  [
    'a database of a newer version',
    () => {
      const database = new DatabaseSync(databaseFiles()[0] ?? '');
      database.exec("INSERT INTO d1_migrations (name) VALUES ('9999_future.sql')");
      database.close();
    },
    /made by a newer version, with 9999_future\.sql\./,
  ],
];

test.each(mixtures)('a stack does not start on %s, and says so', async (_, spoil, says) => {
  rmSync(copy, { recursive: true, force: true });
  cpSync(made, copy, { recursive: true });
  spoil();
  const refusal = await startTestStack({ stateDir: copy }).then(
    (stack) => stack.stop(),
    (error: unknown) => error,
  );
  expect(refusal).toBeInstanceOf(OperatorError);
  expect((refusal as Error).message).toMatch(says);
});
