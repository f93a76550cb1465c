/** Attack mode: what operators and alarms change, and that it always ends. */
import { describe, expect, test } from 'vitest';
import {
  afterAlarm,
  attackPolicy,
  attackStateOf,
  attackStateText,
  isUnderAttack,
  switchedOff,
  switchedOn,
} from '../../../src/attack/attack-state.ts';
import { instancePolicy } from '../../../src/contract/management/instance-policy.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const off = attackStateOf(null);

describe('attack mode that an operator switches on', () => {
  const on = switchedOn(off, HOUR_MS, 1000);

  test('ends by itself', () => {
    expect(isUnderAttack(on, 1000 + HOUR_MS - 1)).toBe(true);
    expect(isUnderAttack(on, 1000 + HOUR_MS)).toBe(false);
  });

  test('gets another end when it is switched on again, and keeps its beginning', () => {
    const again = switchedOn(on, 5 * MINUTE_MS, 2000);
    expect(again.active).toEqual({ since: 1000, until: 2000 + 5 * MINUTE_MS, by: 'operator' });
  });

  test('is not changed by an alarm that begins or ends', () => {
    const alarmed = afterAlarm(on, 5000, 5000);
    expect(alarmed.active).toEqual(on.active);
    expect(afterAlarm(alarmed, null, 9000).active).toEqual(on.active);
  });
});

describe('an alarm', () => {
  test('switches attack mode on, prolongs it while it lasts, and switches it off', () => {
    const on = afterAlarm(off, 5000, 6000);
    expect(on.active).toEqual({ since: 6000, until: 6000 + 5 * MINUTE_MS, by: 'trigger' });
    expect(afterAlarm(on, 5000, 6000 + 2 * MINUTE_MS).active).toEqual(on.active);
    const longer = afterAlarm(on, 5000, 6000 + 3 * MINUTE_MS);
    expect(longer.active).toEqual({ since: 6000, until: 6000 + 8 * MINUTE_MS, by: 'trigger' });
    expect(afterAlarm(longer, null, 7000 + 3 * MINUTE_MS)).toMatchObject({ active: null, alarm: null });
  });

  test('does not switch it on again once an operator has switched it off, and the next alarm does', () => {
    const declined = switchedOff(afterAlarm(off, 5000, 6000));
    expect(afterAlarm(declined, 5000, 8000).active).toBeNull();
    const over = afterAlarm(declined, null, 9000);
    expect(afterAlarm(over, 10_000, 10_000).active).not.toBeNull();
  });

  test.each(['alert', 'off'] as const)('only is noted where the trigger is %s', (trigger) => {
    expect(afterAlarm({ ...off, trigger }, 5000, 6000)).toMatchObject({ alarm: 5000, active: null });
  });
});

test('a state is read as it was written, and damage is no attack mode', () => {
  const on = switchedOn(off, HOUR_MS, 1000);
  expect(attackStateOf(attackStateText(on))).toEqual({ ...on, revision: 1 });
  expect(attackStateOf('{"active":')).toEqual(off);
  expect(attackStateOf('{"active":{"since":1,"until":"never","by":"operator"}}')).toEqual(off);
});

describe('the policy in attack mode', () => {
  test('challenges pages without a session, and changes nothing else', () => {
    const policy = instancePolicy.parse({
      challengeThreshold: 0.6,
      pathRules: [{ pattern: '/api/**', action: 'allow' }],
    });
    const { html, json } = policy.enforcementPolicy;
    expect(attackPolicy(policy)).toEqual({
      ...policy,
      enforcementPolicy: { html: { ...html, onPending: 'challenge' }, json },
    });
    expect(html.onPending).toBe('budget');
  });

  test('never softens one that is as strict or stricter', () => {
    for (const onPending of ['challenge', 'block'] as const) {
      const policy = instancePolicy.parse({ enforcementPolicy: { html: { onPending } } });
      expect(attackPolicy(policy)).toEqual(policy);
    }
  });
});
