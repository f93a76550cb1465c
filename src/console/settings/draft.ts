/** A form's values as people type them, and what of it differs from what is stored. */
import { failed, ok, type Result } from '../../result.ts';
import { controlOf, filledLines, type SettingSchema, type SettingSchemas } from './setting-schema.ts';

export type SettingValues = Readonly<Record<string, unknown>>;

/** A value as the text of its field. */
export function settingText(schema: SettingSchema, value: unknown): string {
  if (value === undefined || value === null) return '';
  const kind = controlOf(schema);
  if (kind === 'lines') return (value as readonly string[]).join('\n');
  return kind === 'json' || kind === 'group' ? JSON.stringify(value, null, 2) : String(value as string | number);
}

/** A field's text as a value. Empty text is no value: the member is left out. */
export function settingValue(schema: SettingSchema, text: string): Result<unknown, string> {
  const kind = controlOf(schema);
  if (kind === 'lines') return ok(filledLines(text));
  if (text.trim() === '') return ok(undefined);
  if (kind === 'number') {
    const value = Number(text);
    return Number.isFinite(value) ? ok(value) : failed('is not a number');
  }
  if (kind !== 'json') return ok(text);
  try {
    return ok(JSON.parse(text));
  } catch {
    return failed('is not valid JSON');
  }
}

/** The members whose value differs, each whole, as the API replaces them. */
export function changedMembers(schemas: SettingSchemas, stored: SettingValues, draft: SettingValues): SettingValues {
  const changed = Object.keys(schemas).filter((name) => JSON.stringify(stored[name]) !== JSON.stringify(draft[name]));
  return Object.fromEntries(changed.filter((name) => draft[name] !== undefined).map((name) => [name, draft[name]]));
}
