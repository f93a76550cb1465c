/** What a stack refuses to work on, and what it refuses to delete: each is one sentence, and changes nothing. */
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StateError } from '../../../src/cli/state-files.ts';
import { StateDir } from '../../../src/cli/state.ts';
import { expectRows } from '../../support/rows.ts';

const parents: string[] = [];
let parent: string;
let dir: string;

function makeState(): void {
  parent = mkdtempSync(join(tmpdir(), 'gatehouse-state-files-'));
  parents.push(parent);
  dir = join(parent, 'state');
  const state = new StateDir(dir);
  state.claim(false);
  state.secrets();
  const text = 'x';
  state.keepSeed({ accountId: text, ownerEmail: text, apiKey: text, siteKey: text, secretKey: text, instanceId: text });
  mkdirSync(join(dir, 'service', 'd1'), { recursive: true });
  const database = new DatabaseSync(join(dir, 'service', 'd1', 'a.sqlite'));
  database.exec('CREATE TABLE t (value TEXT)');
  database.exec(`INSERT INTO t VALUES ('${'value'.repeat(10_000)}')`);
  database.close();
  mkdirSync(join(dir, 'edge', 'kv', 'blobs'), { recursive: true });
  writeFileSync(join(dir, 'edge', 'kv', 'blobs', '0a1b'), 'an object');
  state.release();
}
beforeEach(makeState);
afterEach(() => {
  for (const made of parents.splice(0)) rmSync(made, { recursive: true, force: true });
});

/** Names and content, to show that nothing changed. Links are not followed. */
function content(at = parent): string[] {
  return readdirSync(at, { withFileTypes: true }).flatMap((entry) => {
    const path = join(at, entry.name);
    if (entry.isDirectory()) return [path, ...content(path)];
    return [entry.isFile() ? `${path} ${readFileSync(path).toString('base64')}` : path];
  });
}

function refusal(act: () => void): string {
  const before = content();
  let message = '';
  try {
    act();
  } catch (error) {
    expect(error).toBeInstanceOf(StateError);
    message = (error as Error).message;
  }
  expect(content()).toEqual(before);
  return message;
}

function damageAt(offset: number): void {
  const path = join(dir, 'service', 'd1', 'a.sqlite');
  const bytes = readFileSync(path);
  bytes.fill('damage', offset, offset + 8192);
  writeFileSync(path, bytes);
}

describe('a stack refuses', () => {
  const jsonFiles = ['secrets.json', 'seed.json', 'control.json', 'owner.json'];
  const cases: [string, () => void, RegExp][] = [
    ...jsonFiles.flatMap((name): [string, () => void, RegExp][] => [
      [`a cut ${name}`, () => writeFileSync(join(dir, name), '{"pid'), new RegExp(`${name} is damaged\\.`)],
      [`an empty ${name}`, () => writeFileSync(join(dir, name), ''), new RegExp(`${name} is damaged\\.`)],
      [`a ${name} of another shape`, () => writeFileSync(join(dir, name), '{}'), new RegExp(`${name} is damaged\\.`)],
      [
        `a directory ${name}`,
        () => mkdirSync(join(replaced(name), 'x'), { recursive: true }),
        /cannot be used: EISDIR|not of a local stack/,
      ],
    ]),
    ['a database that is no database', () => damageAt(0), /a\.sqlite is damaged\./],
    ['a database with a damaged page', () => damageAt(16_384), /a\.sqlite is damaged\./],
    [
      'a directory without its key',
      () => rmSync(join(dir, 'secrets.json')),
      /has files that are not of a local stack\./,
    ],
    ['a directory of a newer version', () => changeSecrets({ format: 2 }), /was made by a newer version\./],
    ['a file in place of a storage', () => writeFileSync(replaced('service'), ''), /service cannot be used: ENOTDIR/],
  ];
  test('a directory that is damaged, or not of this version', () =>
    expectRows(cases, ([, spoil, says]) => {
      makeState();
      spoil();
      expect(refusal(() => new StateDir(dir).claim(false))).toMatch(says);
    }));

  test('a directory that cannot be written', () => {
    // The superuser may write everywhere but here.
    expect(refusal(() => new StateDir('/proc/gatehouse').claim(false))).toMatch(/^\/proc\/gatehouse cannot be used: /);
  });

  test('a directory that holds something else, which a typing error leads to', () => {
    const other = join(parent, 'project');
    mkdirSync(join(other, 'src'), { recursive: true });
    writeFileSync(join(other, 'package.json'), '{}');
    expect(refusal(() => new StateDir(other).claim(false))).toBe(
      `${other} has files that are not of a local stack. Choose another directory with --state.`,
    );
  });

  test('a directory whose parent is missing, which a typing error looks like', () => {
    const typo = join(parent, 'typo', 'state');
    expect(refusal(() => new StateDir(typo).claim(false))).toContain(`${join(parent, 'typo')} does not exist.`);
  });
});

function replaced(name: string): string {
  rmSync(join(dir, name), { recursive: true, force: true });
  return join(dir, name);
}

function changeSecrets(change: object): void {
  const path = join(dir, 'secrets.json');
  writeFileSync(path, JSON.stringify({ ...(JSON.parse(readFileSync(path, 'utf8')) as object), ...change }));
}

describe('--fresh', () => {
  const foreign: [string, () => void][] = [
    ['a file beside the stack’s', () => writeFileSync(join(dir, 'thesis.txt'), 'three years')],
    ['a directory beside the stack’s', () => mkdirSync(join(dir, 'photos'))],
    ['a file among the databases', () => writeFileSync(join(dir, 'service', 'd1', 'thesis.txt'), 'three years')],
    ['a link to another directory', () => symlinkSync('/etc', join(dir, 'edge', 'elsewhere'))],
    ['a link in place of a storage', () => symlinkSync(tmpdir(), replaced('edge'))],
    ['no key', () => rmSync(join(dir, 'secrets.json'))],
    ['only a secrets.json of another program', () => otherProgram()],
  ];
  test('deletes nothing when there is anything that no stack has made', () =>
    expectRows(foreign, ([, spoil]) => {
      makeState();
      spoil();
      expect(refusal(() => new StateDir(dir).claim(true))).toMatch(/not a file of a local stack|not of a local stack/);
    }));

  test('deletes a stack with a damaged file', () =>
    expectRows(['secrets.json', 'seed.json', 'owner.json', 'control.json'], (name) => {
      makeState();
      writeFileSync(join(dir, name), '{');
      new StateDir(dir).claim(true);
      expect(readdirSync(dir)).toEqual(['owner.json']);
    }));
});

function otherProgram(): void {
  for (const name of ['service', 'edge', 'seed.json']) replaced(name);
  writeFileSync(join(dir, 'secrets.json'), '{"token": "of another program"}');
}
