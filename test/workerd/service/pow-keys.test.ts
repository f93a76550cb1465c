/** The parameters of proofs of work that the scheduled run makes. */
import { expect, test } from 'vitest';
import { keyDay } from '../../../src/captcha/seal/keyring.ts';
import { powKeyOfDay, preparePowKeys } from '../../../src/store/keys/pow-keys.ts';
import { testNow } from '../../support/clock.ts';
import { serviceEnv } from './service-under-test.ts';

test('parameters are made for the days that have none, and stay', async () => {
  const today = keyDay(testNow());
  const kept = await powKeyOfDay(serviceEnv, today, testNow());
  await preparePowKeys(serviceEnv, [today, today + 1], testNow());
  const { results } = await serviceEnv.DB.prepare('SELECT day FROM pow_keys WHERE day >= ? ORDER BY day')
    .bind(today)
    .all<{ day: number }>();
  expect(results.map(({ day }) => day)).toEqual([today, today + 1]);
  expect(await powKeyOfDay(serviceEnv, today, testNow())).toEqual(kept);
});
