/** The check of settings finds what a page says wrongly, or does not say. */
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { settingsProblems } from '../../../scripts/checks/documented-settings.ts';
import type { DocumentedSetting } from '../../../scripts/settings-pages.ts';

const schema = z.strictObject({
  name: z.string(),
  retries: z._default(z.number(), 3),
  quota: z.optional(z.strictObject({ perDay: z.number() })),
});
const row = (exampleText: string, defaultText: string | null = null): DocumentedSetting => ({
  meaning: 'Something.',
  defaultText,
  exampleText,
});
const rows = {
  name: row('"Shop"'),
  retries: row('5', '3'),
  quota: row('{"perDay":1}'),
  'quota.perDay': row('10'),
};
const inOpenapi = Object.fromEntries(Object.keys(rows).map((name) => [name, { description: 'Something.' }]));

function problems(changed: Record<string, DocumentedSetting | undefined>, openapi: object = {}): string[] {
  const page = new Map(
    Object.entries({ ...rows, ...changed }).flatMap(([name, setting]) => (setting ? [[name, setting] as const] : [])),
  );
  const settings = { of: 'site', schema, page, least: { name: 'Shop' }, documentedAs: '' };
  return settingsProblems(settings, { ...inOpenapi, ...openapi });
}

test('a page that describes every setting has no problem', () => {
  expect(problems({})).toEqual([]);
});

test('a setting without a row, a meaning, an example or a default is reported', () => {
  expect(problems({ name: undefined })).toEqual([
    'site: name has no meaning',
    expect.stringContaining('the example of name is not accepted'),
    'site: name has no example',
  ]);
  expect(problems({ 'quota.perDay': { ...rows.name, exampleText: null } })).toEqual(['site: perDay has no example']);
  expect(problems({ name: { ...rows.name, meaning: '' } })).toEqual(['site: name has no meaning']);
  expect(problems({ retries: row('5') })).toEqual(['site: the default of retries is missing']);
});

test('an example that the schema refuses is reported, also inside another setting', () => {
  expect(problems({ retries: row('"five"', '3') })).toEqual([
    expect.stringContaining('the example of retries is not accepted'),
    'site: the example of retries does not fit its schema: "five"',
  ]);
  expect(problems({ 'quota.perDay': row('"ten"') })).toEqual([
    'site: the example of perDay does not fit its schema: "ten"',
  ]);
});

test('a wrong default, a name that does not exist and a missing description in OpenAPI are reported', () => {
  expect(problems({ retries: row('5', '4') })).toEqual(['site: the default of retries is 3, not 4']);
  expect(problems({ tries: row('5') })).toEqual(['site: the page names tries, which does not exist']);
  expect(problems({}, { retries: {} })).toEqual(['site: retries has no description in docs/openapi.json']);
});
