/** A rule that matched, as the gate reads it: field by field, and never through JSON. */
import { expect, test } from 'vitest';
import { rulesetOf } from './rulesets.ts';

const visitor = { ip: '192.0.2.7', asn: 64_496, countryCode: 'DE', ja4: null, userAgent: 'robot/1', rolloutBucket: 0 };

test('the fields of a fired rule are those of its JSON, however often they are read', () => {
  const ruleset = rulesetOf([
    { type: 'ip', value: '192.0.2.7', verdict: 'block' },
    { type: 'ipMask', value: '192.0.2.0/24', verdict: 'challenge', mode: 'monitor' },
    { type: 'userAgent', value: 'robot', verdict: 'challenge' },
    { type: 'asn', value: '64496', verdict: 'allow' },
  ]);
  const { fired } = ruleset.match(visitor, 0);
  const read = () => fired.map(({ id, type, entry, verdict, mode }) => ({ id, type, entry, verdict, mode }));
  expect(read()).toEqual([
    { id: 'ip:192.0.2.7', type: 'ip', entry: undefined, verdict: 'block', mode: 'enforce' },
    { id: 'ipMask:192.0.2.0/24', type: 'ipMask', entry: undefined, verdict: 'challenge', mode: 'monitor' },
    { id: 'asn:64496', type: 'asn', entry: undefined, verdict: 'allow', mode: 'enforce' },
    { id: 'userAgent:robot', type: 'userAgent', entry: undefined, verdict: 'challenge', mode: 'enforce' },
  ]);
  expect(read()).toEqual(read());
  expect(JSON.stringify(fired)).toBe(JSON.stringify(read()));
});
