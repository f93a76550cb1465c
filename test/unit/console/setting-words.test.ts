import { expect, test } from 'vitest';
import { instanceSettings } from '../../../src/console/settings/instance-settings.generated.ts';
import {
  controlOf,
  partsOf,
  type SettingSchema,
  type SettingSchemas,
} from '../../../src/console/settings/setting-schema.ts';
import { instanceGroups, settingLabel, siteGroups, unitOf } from '../../../src/console/settings/setting-words.ts';
import { siteSettings } from '../../../src/console/settings/site-settings.generated.ts';

const sets: [typeof instanceGroups, SettingSchemas][] = [
  [instanceGroups, instanceSettings],
  [siteGroups, siteSettings],
];

/** A setting and everything in it, by path. */
function pathsIn(path: string, schema: SettingSchema): [path: string, schema: SettingSchema][] {
  const parts = { ...partsOf(schema), ...partsOf(schema.items ?? {}), ...partsOf(schema.additionalProperties ?? {}) };
  return [[path, schema], ...Object.entries(parts).flatMap(([name, part]) => pathsIn(`${path}.${name}`, part))];
}

test('every setting is in one group, and every part of it has a field', () => {
  for (const [groups, schemas] of sets) {
    const named = groups.flatMap(({ settings }) => Object.keys(settings));
    expect(named.toSorted()).toEqual(Object.keys(schemas).toSorted());
    const all = Object.entries(schemas).flatMap(([name, schema]) => pathsIn(name, schema));
    expect(all.filter(([, schema]) => controlOf(schema) === null).map(([path]) => path)).toEqual([]);
  }
});

test('a setting is called by words, with its unit', () => {
  expect(settingLabel('pathRules.0.action')).toBe('Decision');
  expect(settingLabel('puzzle.decoyEdgeDarkness')).toBe('Decoy edge darkness');
  expect([unitOf('jtiExpirySeconds'), unitOf('rollout'), unitOf('name')]).toEqual(['seconds', 'percent', null]);
});
