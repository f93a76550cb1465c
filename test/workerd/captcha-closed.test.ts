/**
 * Captchas fail closed: while the account's access control rules cannot be read, no token passes and no challenge is
 * issued.
 */
import { expect, test } from 'vitest';
import type { SiteRecord } from '../../src/store/d1/sites.ts';
import { later } from '../support/clock.ts';
import { env, makeSite, post, tokenFor } from './captcha-harness.ts';

/** Longer than an isolate uses the rules it has read. */
const RULES_STALE_MS = 1100;
const table = 'access_control_versions';

async function withoutRules<T>(work: () => Promise<T>): Promise<T> {
  await env.DB.exec(`ALTER TABLE ${table} RENAME TO ${table}_away`);
  try {
    return await work();
  } finally {
    await env.DB.exec(`ALTER TABLE ${table}_away RENAME TO ${table}`);
  }
}

const verify = (site: SiteRecord, token: string) =>
  post('/siteverify', { secret: site.secretKey, token, ip: '203.0.113.9' });

test('refuses a token while the access control rules cannot be read, and does not spend it', async () => {
  const site = await makeSite('professional');
  const token = await tokenFor(site);
  later(RULES_STALE_MS);
  const refused = await withoutRules(() => verify(site, token));
  expect(refused).toMatchObject({ status: 200, body: { verified: false, reason: 'API.ACCESS_POLICY_BLOCK' } });
  expect(await verify(site, token)).toMatchObject({ body: { verified: true } });
});

test('issues no challenge while the access control rules cannot be read', async () => {
  const site = await makeSite('professional');
  const refused = await withoutRules(() => post('/captcha/v1/challenge', { siteKey: site.siteKey }));
  expect(refused).toMatchObject({ status: 500, body: { error: { key: 'API.UNKNOWN' } } });
});
