/** The generated file that both Workers carry. Reading it during a build must not return half of it. */
import { closeSync, mkdtempSync, openSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { writeBundle } from '../../../scripts/build-client.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bundle-'));
const path = join(folder, 'bundle.generated.ts');
afterAll(() => rmSync(folder, { recursive: true }));

const assets = (body: string) => ({ 'widget.js': { hash: 'abc', body, gzipBytes: 1 } });

test('is replaced as a whole: a reader that opened it before still reads the former one', () => {
  writeBundle(assets('former'), path);
  const opened = openSync(path, 'r');
  const former = readFileSync(path, 'utf8');
  writeBundle(assets('later'), path);
  expect(readFileSync(opened, 'utf8')).toBe(former);
  closeSync(opened);
  expect(readFileSync(path, 'utf8')).toContain('later');
  expect(readdirSync(folder)).toEqual(['bundle.generated.ts']);
});

test('is not written again when nothing changed', () => {
  writeBundle(assets('same'), path);
  const { ino } = statSync(path);
  writeBundle(assets('same'), path);
  expect(statSync(path).ino).toBe(ino);
});
