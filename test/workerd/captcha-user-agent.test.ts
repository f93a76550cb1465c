/** The user agent in the record of a captcha, behind a proxy of the operator that says which bytes it had. */
import { expect, test } from 'vitest';
import { searchCaptchas } from '../../src/store/event-log/client/captcha-log.ts';
import { background } from '../support/background-work.ts';
import { ask, bindTo, env, makeAccount, makeSite } from './captcha-harness.ts';

const SECRET = 'a-secret-of-the-proxy-that-is-long-enough';
bindTo({ ...env, SIGNALS_SOURCE: 'headers', SIGNALS_SECRET: SECRET } as ServiceEnv);

const all = { since: 0, until: Number.MAX_SAFE_INTEGER, siteKey: null, type: null, conditions: [] };

test('a captcha is recorded with the bytes that the proxy says', async () => {
  const accountId = await makeAccount('enterprise');
  const site = await makeSite('enterprise', {}, accountId);
  const userAgent = String.raw`caf\xe9`;
  await ask(site, {}, { 'x-signals-secret': SECRET, 'x-client-ip': '192.0.2.7', 'x-client-user-agent': userAgent });
  await Promise.all(background);
  const { records } = await searchCaptchas(env, accountId, all, null, 10);
  expect(records.map(({ user_agent }) => user_agent)).toEqual([userAgent]);
});
