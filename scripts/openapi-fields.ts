/**
 * Descriptions of every field that is no setting, from docs/api-fields.md: the row with the longest name that the place of
 * the field ends in.
 */
import { readPage, type SettingsPage } from './settings-pages.ts';

type Json = Record<string, unknown>;

export const fieldsPage: SettingsPage = readPage('docs/api-fields.md', 'Field');

/** Describes the named schemas and their fields, and leaves the descriptions that there are. */
export function describeFields(schemas: Readonly<Record<string, Json>>): void {
  for (const [name, schema] of Object.entries(schemas)) {
    const own = fieldsPage.get(name);
    if (own !== undefined) schema['description'] ??= own.meaning;
    visit(schema, name);
  }
}

/** @returns the name of the row for the field at this place, such as `VerdictPage.verdicts`. */
export function rowFor(place: string): string | undefined {
  const parts = place.split('.');
  return parts.map((_, index) => parts.slice(index).join('.')).find((name) => fieldsPage.has(name));
}

function visit(schema: Json, place: string): void {
  for (const [name, field] of Object.entries((schema['properties'] ?? {}) as Record<string, Json>)) {
    field['description'] ??= fieldsPage.get(rowFor(`${place}.${name}`) ?? '')?.meaning;
    if (field['description'] === undefined) throw new Error(`docs/api-fields.md has no row for ${place}.${name}`);
    visit(field, `${place}.${name}`);
  }
  const choices = [...((schema['anyOf'] ?? []) as unknown[]), ...((schema['oneOf'] ?? []) as unknown[])];
  const inner = [schema['items'], schema['additionalProperties'], ...choices];
  for (const child of inner) if (typeof child === 'object' && child !== null) visit(child as Json, place);
}
