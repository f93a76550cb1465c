/**
 * `node scripts/config-schema.ts` writes docs/gatehouse.schema.json, the JSON Schema of a configuration file, from the
 * schema that reads it. With `--check` it writes nothing, and fails when the file differs.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { toJSONSchema } from 'zod/v4/core';
import { configFile } from '../src/cli/apply/config-schema.ts';
import { compactJson } from './compact-json.ts';
import { describeFields } from './openapi-fields.ts';
import { describeInput } from './openapi-input.ts';
import { describeSettings, instancePage, readPage, sitePage } from './settings-pages.ts';

type Json = Record<string, unknown>;

const file = new URL('../docs/gatehouse.schema.json', import.meta.url);

function schema(): Json {
  const made = toJSONSchema(configFile, {
    io: 'input',
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override: (context) => {
      describeInput(context);
      withoutSafeBounds(context.jsonSchema as Json);
    },
  }) as Json;
  const instance = partAt(made, 'instances', 'items');
  describeSettings(partAt(made, 'sites', 'items', 'settings'), sitePage);
  describeSettings(partAt(instance, 'settings'), instancePage);
  describeOwn(made);
  // Under the names that these have in the API.
  describeFields({
    FailedLogin: partAt(instance, 'limits', 'items', 'loginFailed'),
    Limit: partAt(instance, 'limits', 'items'),
    Origin: partAt(instance, 'origins', 'additionalProperties'),
    OwnBot: partAt(made, 'bots', 'items'),
  });
  describeFields({ ConfigurationFile: made });
  return { ...made, title: 'Gatehouse configuration file' };
}

/** Follows names of fields, `items` and `additionalProperties`. */
function partAt(from: Json, ...steps: readonly string[]): Json {
  return steps.reduce((part, step) => ((part['properties'] as Json | undefined)?.[step] ?? part[step]) as Json, from);
}

/** The page has the fields of the file itself, which are nobody else's. */
function describeOwn(made: Json): void {
  const page = readPage('docs/configuration-file.md', 'Field');
  const visit = (of: Json, place: string): void => {
    for (const [name, field] of Object.entries((of['properties'] ?? {}) as Record<string, Json>)) {
      const own = place === '' ? name : `${place}.${name}`;
      const parts = own.split('.');
      const row = parts.map((_, index) => page.get(parts.slice(index).join('.'))).find((found) => found !== undefined);
      // A setting may have the name of a field.
      if (row !== undefined && !place.includes('settings')) field['description'] = row.meaning;
      visit(field, own);
    }
    if (of['items'] !== undefined) visit(of['items'] as Json, `${place}[]`);
    for (const option of [of['anyOf'] ?? [], of['oneOf'] ?? []].flat() as Json[]) visit(option, place);
  };
  visit(made, '');
}

/** "Every number that JavaScript can hold" is no bound that a writer needs to know. */
function withoutSafeBounds(of: Json): void {
  for (const key of ['minimum', 'maximum']) if (Math.abs(Number(of[key])) === Number.MAX_SAFE_INTEGER) delete of[key];
}

const wanted = `${compactJson(schema())}\n`;
if (!process.argv.includes('--check')) writeFileSync(file, wanted);
else if (!existsSync(file) || readFileSync(file, 'utf8') !== wanted) {
  console.error('docs/gatehouse.schema.json differs from the schemas. Run: npm run fix');
  process.exitCode = 1;
}
