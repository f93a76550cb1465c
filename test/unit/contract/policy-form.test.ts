/** The edge checks the form of its policy: nothing is lost on the way, and damage is refused. */
import { describe, expect, test } from 'vitest';
import { edgeVersion } from '../../../src/contract/edge/edge-responses.ts';
import { instancePolicy } from '../../../src/contract/management/instance-policy.ts';
import { policyForm } from '../../../src/contract/management/policy-form.ts';
import { expectRows } from '../../support/rows.ts';

const text = 'https://shop.example/a';
const full = instancePolicy.parse({
  hosts: ['shop.example'],
  ipCategoryRules: { tor: 'block', datacenter: 'challenge' },
  challengeDifficulty: [{ minScore: 0.5, captchaType: 'image', powDifficulty: 5 }],
  endpointRules: [{ pattern: '/api/**', pathType: 'json' }],
  pathRules: [{ pattern: '/login', methods: ['POST'], action: 'challenge', waiveSession: true }],
  enforcementPolicy: { html: { onPending: 'challenge' } },
  botPolicy: {
    behaviours: { search: 'allow', training: 'charge' },
    overrides: [
      { bot: 'bingbot', path: '/a*', action: 'block' },
      { behaviour: 'feed', action: 'allow' },
    ],
    charge: { price: 'USD 0.01', licenseUrl: text },
    signatures: { nonce: 'once' },
  },
  branding: {
    name: 'Shop',
    logoUrl: text,
    primaryColor: '#000000',
    backgroundColor: '#ffffff',
    textColor: '#111111',
    title: 'One moment',
    message: 'Please wait',
    supportUrl: text,
    privacyUrl: text,
    contact: 'help@shop.example',
  },
});

describe('the policy of an edge', () => {
  test.each([
    ['with defaults alone', instancePolicy.parse({})],
    ['with every field', full],
  ])('keeps what the service made, %s', (_, policy) => {
    expect(policyForm.parse(policy)).toEqual(policy);
  });

  test('of a service that knows no bots has the usual bot policy', () => {
    const { botPolicy: _, ...older } = full;
    expect(policyForm.parse(older).botPolicy).toEqual(instancePolicy.parse({}).botPolicy);
  });

  test('of a newer service counts without what is not known', () => {
    const newer = { ...full, tomorrow: 1, branding: { ...full.branding, tomorrow: 1 } };
    expect(policyForm.parse(newer)).toEqual(full);
    const version = { configVersion: 'v', base: { hash: 'a'.repeat(64), version: 1 }, delta: { version: 1 } };
    expect(edgeVersion.parse({ ...version, tomorrow: 1 })).toEqual(version);
  });

  test('is refused with another value than its form allows', () =>
    expectRows<[string, object]>(
      [
        ['a number for a word', { botPolicy: { ...full.botPolicy, preset: 1 } }],
        ['an action of a behaviour that is none', { botPolicy: { ...full.botPolicy, behaviours: { search: 1 } } }],
        ['a price that is no text', { botPolicy: { ...full.botPolicy, charge: { price: 1, licenseUrl: text } } }],
        ['a text for a number', { challengeThreshold: '0.5' }],
        ['no list', { pathRules: {} }],
        ['nothing', { enforcementPolicy: null }],
      ],
      ([, damage]) => {
        expect(policyForm.safeParse({ ...full, ...damage }).success).toBe(false);
      },
    ));

  test('meters no session where the service is older', () => {
    expect(policyForm.parse({ ...full, pace: undefined }).pace).toEqual({ html: 0, json: 0 });
  });

  test('is refused without any of the fields that every service has sent', () =>
    expectRows(
      Object.keys(full).filter((name) => name !== 'botPolicy' && name !== 'pace'),
      (name) => {
        expect(policyForm.safeParse({ ...full, [name]: undefined }).success).toBe(false);
      },
    ));
});
