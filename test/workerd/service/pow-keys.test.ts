/** The parameters of proofs of work that the scheduled run makes. */
import { expect, test } from 'vitest';
import { keyDay } from '../../../src/captcha/seal/keyring.ts';
import { powKeyOfDay, preparePowKeys } from '../../../src/store/keys/pow-keys.ts';
import { testNow } from '../../support/clock.ts';
import { serviceEnv } from './service-under-test.ts';

test('parameters are made for the days that have none, and stay', async () => {
  // Years from now, and so not days for which another file has made some.
  const days = [0, 1].map((later) => keyDay(testNow()) + 5000 + later);
  const [first = 0, second = 0] = days;
  const kept = await powKeyOfDay(serviceEnv, first, testNow());
  await preparePowKeys(serviceEnv, days, testNow());
  const { results } = await serviceEnv.DB.prepare('SELECT day FROM pow_keys WHERE day BETWEEN ? AND ? ORDER BY day')
    .bind(first, second)
    .all<{ day: number }>();
  expect(results.map(({ day }) => day)).toEqual(days);
  expect(await powKeyOfDay(serviceEnv, first, testNow())).toEqual(kept);
});
