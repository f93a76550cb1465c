/** The bounds of the console's forms: they are those of the contract, and a value out of them is named at its field. */
import { expect, test } from 'vitest';
import { channelFields } from '../../../src/contract/management/alerts.ts';
import { listFields, listName } from '../../../src/contract/management/lists.ts';
import { failedLogin, limit } from '../../../src/contract/management/policy-set/limit.ts';
import { siteName } from '../../../src/contract/management/site.ts';
import { forms } from '../../../src/console/settings/form-schemas.generated.ts';
import {
  inUnits,
  isFilled,
  filledLines,
  problemIn,
  fieldProblems,
  rangeText,
  type SettingSchema,
} from '../../../src/console/settings/setting-schema.ts';
import { expectRows } from '../../support/rows.ts';

interface Parser {
  safeParse: (value: unknown) => { success: boolean };
}

test('the longest text of a field is the longest that the contract takes', () =>
  expectRows<[SettingSchema, Parser, string]>(
    [
      [forms.list.name, listName, 'a'],
      [forms.list.column, listFields.column, 'a'],
      [forms.list.selector, listFields.selector, 'a'],
      [forms.limit.name, limit.shape.name, 'a'],
      [forms.failedLogin.usernameField, failedLogin.shape.usernameField, 'a'],
      [forms.site.name, siteName, 'a'],
      [forms.channel.name, channelFields.name, 'a'],
    ],
    ([{ maxLength }, schema, char]) => {
      expect(schema.safeParse(char.repeat(maxLength!)).success).toBe(true);
      expect(schema.safeParse(char.repeat(maxLength! + 1)).success).toBe(false);
    },
  ));

test('the range of a number is that of the contract', () =>
  expectRows<[SettingSchema, Parser]>(
    [
      [forms.list.intervalMinutes, listFields.intervalMinutes],
      [forms.list.maxChangePercent, listFields.maxChangePercent],
      [forms.limit.count, limit.shape.count],
      [forms.limit.windowSeconds, limit.shape.windowSeconds],
    ],
    ([schema, contract]) => {
      const { minimum, maximum } = schema;
      for (const value of [minimum! - 1, minimum!, maximum!, maximum! + 1]) {
        expect(problemIn(schema, String(value)) === null).toBe(contract.safeParse(value).success);
      }
    },
  ));

test('a value that does not fit is named, and an empty one only where a number must stand', () =>
  expectRows<[SettingSchema, string, string | null]>(
    [
      [forms.list.intervalMinutes, '4', 'A whole number from 5 to 10,080.'],
      [forms.list.intervalMinutes, '5.5', 'A whole number from 5 to 10,080.'],
      [forms.list.intervalMinutes, '', 'A whole number from 5 to 10,080.'],
      [forms.list.expirySeconds, '', null],
      [forms.accessControlRule.frictionlessScore, '-1.5', 'A number from −1 to 1.'],
      [forms.accessControlRule.frictionlessScore, '-0.5', null],
      [forms.list.name, 'Feed', 'must have 1 to 48 lower-case letters, digits and hyphens, no hyphen first'],
      [forms.list.name, '', null],
      [forms.quietHours.from, '24:00', 'does not have the form that it must have'],
      [forms.ownBot.tokens, 'ShopBot\n\nshop bot', 'line 2: does not have the form that it must have'],
      [forms.ownBot.networks, '198.41.128.0/24', null],
      [forms.ownBot.networks, 'x'.repeat(50), 'line 1: must have at most 49 characters'],
      [forms.ownBot.patterns, 'Shop\n'.repeat(17), 'must have at most 16 lines'],
    ],
    ([schema, text, problem]) => expect(problemIn(schema, text)).toBe(problem),
  ));

test('the schema counts before the rules of the form, and what must be filled in is missed', () => {
  const { intervalMinutes, name } = forms.list;
  const schemas = { name, intervalMinutes };
  expect(fieldProblems({ name: '-', intervalMinutes: '5' }, schemas, { name: 'is taken' })).toEqual({
    name: 'must have 1 to 48 lower-case letters, digits and hyphens, no hyphen first',
  });
  expect(fieldProblems({ name: 'a', intervalMinutes: '5' }, schemas, { name: 'is taken' })).toEqual({
    name: 'is taken',
  });
  expect(isFilled({ name: ' ', intervalMinutes: '5' }, schemas)).toBe(false);
  expect(isFilled({ name: 'a', intervalMinutes: '5' }, schemas)).toBe(true);
});

test('a larger unit has fewer of everything', () => {
  expect(rangeText(inUnits(forms.list.expirySeconds, 3600))).toBe('1 to 8,760');
  expect(rangeText(inUnits(forms.limit.windowSeconds, 60))).toBe('1 to 1,440');
});

test('lines without anything in them are none', () => {
  expect(filledLines(' a \n\n b\n')).toEqual(['a', 'b']);
});
