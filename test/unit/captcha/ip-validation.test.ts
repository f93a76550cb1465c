/** How far the verifying address may be from the one that solved: each condition, alone and together. */
import { expect, test } from 'vitest';
import type { AddressFacts } from '../../../src/captcha/verify/address-facts.ts';
import { type IpComparison, type IpVerdict, validateAddress } from '../../../src/captcha/verify/ip-validation.ts';
import { siteSettings } from '../../../src/contract/management/site-settings.ts';
import { expectRows } from '../../support/rows.ts';
import { facts } from './sealing-fixtures.ts';

const allowed = {
  countryChangeAction: 'allow',
  cityChangeAction: 'allow',
  ispChangeAction: 'allow',
  distanceExceedAction: 'allow',
  abuseScoreExceedAction: 'allow',
};
const BERLIN: AddressFacts = {
  country: 'DE',
  asn: 64_496,
  network: null,
  city: 'Berlin',
  latitude: 52.5,
  longitude: 13.4,
  categories: [],
  abuseScore: 0.1,
};
/** 255 km from Berlin. */
const HAMBURG = { latitude: 53.55, longitude: 10 };
const nothing: AddressFacts = {
  country: null,
  asn: null,
  network: null,
  city: null,
  latitude: null,
  longitude: null,
  categories: null,
  abuseScore: null,
};

function verdict(
  actions: object,
  verifying: Partial<AddressFacts>,
  given: Partial<Omit<IpComparison, 'verifying'>> = {},
  rules: object = {},
): IpVerdict['action'] {
  return wholeVerdict(actions, { ...BERLIN, ...verifying }, given, rules).action;
}

function wholeVerdict(
  actions: object,
  verifying: AddressFacts | null,
  given: Partial<Omit<IpComparison, 'verifying'>> = {},
  rules: object = {},
): IpVerdict {
  const { ipValidationRules } = siteSettings.parse({
    domains: ['example.com'],
    ipValidationRules: {
      enabled: true,
      actions: { ...allowed, ...actions },
      distanceThresholdKm: 200,
      abuseScoreThreshold: 0.5,
      ...rules,
    },
  });
  const { country, asn, latitude, longitude } = BERLIN;
  return validateAddress(ipValidationRules, {
    sameAddress: false,
    sameCity: true,
    issued: { ...facts, country, asn, latitude, longitude },
    ...given,
    verifying,
  });
}
const unknown = { ...facts, country: null, asn: null, latitude: null, longitude: null };

test('an address that did not change passes, whatever the rules say', () => {
  expect(verdict({ countryChangeAction: 'reject' }, { country: 'FR' }, { sameAddress: true })).toBe('pass');
  expect(verdict({ countryChangeAction: 'reject' }, { country: 'FR' }, {}, { enabled: false })).toBe('pass');
});

test('without one of the addresses nothing is evaluated', () => {
  expect(verdict({}, {}, { sameAddress: null }, { forceConsistentIp: true })).toBe('not-evaluated');
});

test('an address of which nothing is known is not evaluated, although the cities are the same', () => {
  expect(wholeVerdict({ cityChangeAction: 'reject' }, null)).toEqual({ action: 'not-evaluated', unknown: [] });
});

test('a verdict names the conditions that could not be judged and would have counted', () => {
  const actions = { countryChangeAction: 'reject', abuseScoreExceedAction: 'flag' };
  const verifying = { ...BERLIN, asn: null, abuseScore: null };
  expect(wholeVerdict(actions, verifying)).toEqual({ action: 'pass', unknown: ['abuseScoreExceedAction'] });
});

test('a site can refuse every other address', () => {
  expect(verdict({}, {}, {}, { forceConsistentIp: true })).toBe('reject');
});

test('a change has its action', () =>
  expectRows<[string, object, Partial<AddressFacts>, Partial<Omit<IpComparison, 'verifying'>>]>(
    [
      ['the country', { countryChangeAction: 'reject' }, { country: 'FR' }, {}],
      ['the provider', { ispChangeAction: 'reject' }, { asn: 64_497 }, {}],
      ['the city and the provider', { cityChangeAction: 'reject' }, { asn: 64_497 }, { sameCity: false }],
      ['the city and the country', { cityChangeAction: 'reject' }, { country: 'FR' }, { sameCity: false }],
      [
        'the city, to a datacenter',
        { cityChangeAction: 'reject' },
        { categories: ['datacenter'] },
        { sameCity: false },
      ],
      ['the distance and the provider', { distanceExceedAction: 'reject' }, { ...HAMBURG, asn: 64_497 }, {}],
      ['the abuse score', { abuseScoreExceedAction: 'reject' }, { abuseScore: 0.6 }, {}],
    ],
    ([, actions, verifying, given]) => {
      expect(verdict(actions, verifying, given)).toBe('reject');
      expect(verdict({}, verifying, given)).toBe('pass');
      const flagging = Object.fromEntries(Object.keys(actions).map((name) => [name, 'flag']));
      expect(verdict(flagging, verifying, given)).toBe('flag');
    },
  ));

test('a phone that roams within its provider and country did not travel', () => {
  const actions = { cityChangeAction: 'reject', distanceExceedAction: 'reject' };
  expect(verdict(actions, HAMBURG, { sameCity: false })).toBe('pass');
});

test('a distance is measured along the sphere', () =>
  expectRows(
    [
      [0, 0, 'pass'],
      [0, 1.79, 'pass'],
      [0, 1.81, 'reject'],
      [1.79, 0, 'pass'],
      [1.81, 0, 'reject'],
      // A degree of longitude is half as long at 60 degrees of latitude.
      [60, 3.58, 'pass'],
      [60, 3.62, 'reject'],
    ],
    ([latitude, longitude, expected]) => {
      const issued = { ...facts, country: 'DE', asn: 64_496, latitude: latitude === 60 ? 60 : 0, longitude: 0 };
      const verifying = { latitude, longitude, asn: 64_497 };
      expect(verdict({ distanceExceedAction: 'reject' }, verifying, { issued })).toBe(expected);
    },
  ));

test('a score at its threshold does not exceed it', () => {
  expect(verdict({ abuseScoreExceedAction: 'reject' }, { abuseScore: 0.5 })).toBe('pass');
});

test('what one of the addresses does not have is not evaluated', () => {
  const all = Object.fromEntries(Object.keys(allowed).map((name) => [name, 'reject']));
  expect(verdict(all, nothing, { sameCity: null })).toBe('not-evaluated');
  expect(verdict(all, { abuseScore: null }, { issued: unknown, sameCity: null })).toBe('not-evaluated');
  const half = { ...facts, country: null, asn: null, latitude: 52.5, longitude: null };
  expect(verdict(all, { abuseScore: null }, { issued: half, sameCity: null })).toBe('not-evaluated');
  const place = { ...nothing, latitude: 1 };
  expect(verdict(all, place, { sameCity: null })).toBe('not-evaluated');
});

test('a site can want all of its conditions, of those that are known', () => {
  const actions = { countryChangeAction: 'reject', abuseScoreExceedAction: 'reject' };
  const rules = { requireAllConditions: true };
  expect(verdict(actions, { country: 'FR' }, {}, rules)).toBe('pass');
  expect(verdict(actions, { country: 'FR', abuseScore: 0.9 }, {}, rules)).toBe('reject');
  expect(verdict(actions, { country: 'FR', abuseScore: null }, {}, rules)).toBe('reject');
  expect(verdict(actions, { country: 'FR' }, {}, { requireAllConditions: false })).toBe('reject');
});
