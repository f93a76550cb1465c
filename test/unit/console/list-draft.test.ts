/** The form of a list: what its fields mean, and what of them is sent. */
import { expect, test } from 'vitest';
import {
  changedSettings,
  type List,
  listDraftOf,
  listSchemas,
  settingsOf,
} from '../../../src/console/views/lists/list-draft.ts';
import { listDefaults } from '../../../src/contract/management/list-defaults.ts';

const list: List = {
  name: 'feed',
  url: 'https://lists.example/a.json',
  format: 'json',
  column: null,
  selector: 'data[].ip',
  hasAuthorization: true,
  verdict: 'challenge',
  mode: 'enforce',
  intervalMinutes: 15,
  expirySeconds: 5400,
  maxChangePercent: 20,
  includeReserved: true,
  state: 'good',
  entries: 3,
  createdAt: 1,
  triedAt: 2,
  confirmedAt: 2,
  changedAt: 2,
  nextAt: 3,
  failures: 0,
  error: null,
  lastChange: null,
  report: null,
};

test('an empty form means the defaults of the API', () => {
  const { authorization: _secret, mode: _mode, ...defaults } = listDefaults;
  expect(settingsOf(listDraftOf(null))).toEqual(defaults);
});

test('a form that nobody has touched changes nothing, whatever the settings are', () => {
  expect(changedSettings(list, listDraftOf(list))).toEqual({});
  const csv: List = { ...list, format: 'csv', selector: null, column: '2', expirySeconds: 3601 };
  expect(changedSettings(csv, listDraftOf(csv))).toEqual({});
});

test('only what was changed is sent', () => {
  expect(changedSettings(list, { ...listDraftOf(list), expiryHours: '', maxChangePercent: '100' })).toEqual({
    expirySeconds: null,
    maxChangePercent: 100,
  });
});

test('a selector goes when the format has none', () => {
  expect(changedSettings(list, { ...listDraftOf(list), format: 'text' })).toEqual({ format: 'text', selector: null });
});

test('without an address it is a file', () => {
  const file = { ...listDraftOf(list), url: '  ', intervalMinutes: '1' };
  expect(changedSettings(list, file)).toEqual({ url: null });
  expect(settingsOf(file).intervalMinutes).toBe(listDefaults.intervalMinutes);
  expect([listSchemas(file).intervalMinutes, listSchemas(listDraftOf(list)).intervalMinutes?.type]).toEqual([
    undefined,
    'integer',
  ]);
});
