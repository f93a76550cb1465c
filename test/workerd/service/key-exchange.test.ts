/** MASTER_KEY and site secrets are rotated without interrupting what they protect. */
import { describe, expect, test } from 'vitest';
import { instanceSettings } from '../../../src/contract/management/instance-settings.ts';
import { ok } from '../../../src/result.ts';
import { issueClientJwt } from '../../../src/store/d1/client-jwts.ts';
import { createInstance } from '../../../src/store/d1/instances.ts';
import { deriveKey, openAtRest, sealAtRest } from '../../../src/store/keys/master-key.ts';
import { resealRootKey, rootKey } from '../../../src/store/keys/root-key.ts';
import { rotateSiteSecret, siteByKey, siteBySecret } from '../../../src/store/d1/sites.ts';
import { newAccount, send, serviceEnv, serviceUrl } from './service-under-test.ts';
import { testNow } from '../../support/clock.ts';

const NEXT = `${'N'.repeat(42)}A`;
const AFTER = `${'Z'.repeat(42)}A`;

/** The same database with other keys, as an isolate sees it that starts now with an empty memory. */
function started(masterKey: string, previous?: string): ServiceEnv {
  const { DB } = serviceEnv;
  const database = { prepare: DB.prepare.bind(DB), batch: DB.batch.bind(DB) } as unknown as typeof DB;
  return {
    ...serviceEnv,
    DB: database,
    MASTER_KEY: masterKey,
    ...(previous === undefined ? {} : { MASTER_KEY_PREVIOUS: previous }),
  };
}
const getSites = (token: string, env: ServiceEnv): Promise<Response> =>
  send('/sites/get', { method: 'POST', headers: { authorization: `Bearer ${token}` } }, env);

describe('MASTER_KEY', () => {
  test('is rotated without changing API keys, client JWTs, sealed secrets and derived keys', async () => {
    const { account, site, token } = await newAccount();
    const root = await rootKey(serviceEnv);
    expect(root).not.toBe(serviceEnv.MASTER_KEY);
    const old = serviceEnv.MASTER_KEY;

    // Until the row is sealed again, isolates with the new key and with the old one both read it.
    const overlapping = started(NEXT, old);
    expect(await rootKey(overlapping)).toBe(root);
    expect((await getSites(token, overlapping)).status).toBe(200);
    expect((await getSites(token, started(old))).status).toBe(200);

    expect(await resealRootKey(started(NEXT, old), testNow())).toEqual(ok('resealed'));
    expect(await resealRootKey(started(NEXT, old), testNow())).toEqual(ok('unchanged'));

    const after = started(NEXT);
    expect(await rootKey(after)).toBe(root);
    const answer = await getSites(token, after);
    expect(await answer.json()).toMatchObject([{ siteKey: site.siteKey, secretKey: site.secretKey }]);
    expect(account.id).toBe((await siteByKey(after, site.siteKey))?.accountId);
    await expect(rootKey(started(old))).rejects.toThrow('sealed under another MASTER_KEY');

    // Rotated back, for the tests that share this database.
    expect(await resealRootKey(started(old, NEXT), testNow())).toEqual(ok('resealed'));
    expect(await rootKey(started(old))).toBe(root);
  });

  test('opens nothing by itself: it seals neither rows nor tokens', async () => {
    const { token, site } = await newAccount();
    const [head = '', payload = '', signature = ''] = token.split('.');
    const key = await crypto.subtle.importKey(
      'raw',
      await deriveKey(serviceEnv.MASTER_KEY, 'api-key-token'),
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['verify'],
    );
    const bytes = Uint8Array.from(atob(signature.replaceAll('-', '+').replaceAll('_', '/')), (char) =>
      char.charCodeAt(0),
    );
    expect(await crypto.subtle.verify('HMAC', key, bytes, new TextEncoder().encode(`${head}.${payload}`))).toBe(false);
    const row = await serviceEnv.DB.prepare('SELECT secret_sealed FROM sites WHERE site_key = ?')
      .bind(site.siteKey)
      .first<{ secret_sealed: string }>();
    const context = `sites.secret_sealed:${site.siteKey}`;
    await expect(openAtRest(serviceEnv.MASTER_KEY, context, row?.secret_sealed ?? '')).rejects.toThrow();
    expect(await openAtRest(await rootKey(serviceEnv), context, row?.secret_sealed ?? '')).toMatch(/^secret_/);
  });

  test('that matches neither the current nor the former key is an error and changes nothing', async () => {
    await expect(rootKey(started(NEXT, AFTER))).rejects.toThrow(
      'sealed under neither MASTER_KEY nor MASTER_KEY_PREVIOUS',
    );
    await expect(resealRootKey(started(NEXT, AFTER), testNow())).rejects.toThrow('sealed under neither');
    expect(await rootKey(started(serviceEnv.MASTER_KEY))).toBe(await rootKey(serviceEnv));
  });

  test('resealed by two isolates at once is written by one and opens for both', async () => {
    const old = serviceEnv.MASTER_KEY;
    const root = await rootKey(serviceEnv);
    const outcomes = await Promise.all([1, 2, 3].map(() => resealRootKey(started(NEXT, old), testNow())));
    expect(outcomes.filter((outcome) => outcome.ok && outcome.value === 'resealed')).toHaveLength(1);
    expect(await rootKey(started(NEXT))).toBe(root);
    expect(await resealRootKey(started(old, NEXT), testNow())).toEqual(ok('resealed'));
  });

  test('seals a value for its row: the value opens in no other row', async () => {
    const sealed = await sealAtRest(NEXT, 'one', 'text');
    await expect(openAtRest(NEXT, 'other', sealed)).rejects.toThrow();
  });
});

describe('a site secret', () => {
  const HOUR_MS = 3_600_000;

  test('is rotated with both valid for a while, then the new one alone', async () => {
    const { account, site } = await newAccount();
    const now = testNow();
    const own = { accountId: account.id, siteKey: site.siteKey };
    const secret = (await rotateSiteSecret(serviceEnv, own, now + HOUR_MS, now)) ?? '';
    expect(secret).toMatch(/^secret_[A-Za-z0-9_-]{43}$/);
    expect(secret).not.toBe(site.secretKey);
    expect((await siteByKey(serviceEnv, site.siteKey))?.secretKey).toBe(secret);
    for (const good of [secret, site.secretKey]) {
      expect((await siteBySecret(serviceEnv, good, now))?.siteKey).toBe(site.siteKey);
    }
    expect((await siteBySecret(serviceEnv, secret, now + HOUR_MS))?.siteKey).toBe(site.siteKey);
    expect(await siteBySecret(serviceEnv, site.secretKey, now + HOUR_MS)).toBeNull();
  });

  test('rotated twice leaves two valid, never three', async () => {
    const { account, site } = await newAccount();
    const now = testNow();
    const own = { accountId: account.id, siteKey: site.siteKey };
    const second = await rotateSiteSecret(serviceEnv, own, now + HOUR_MS, now);
    const third = await rotateSiteSecret(serviceEnv, own, now + HOUR_MS, now);
    const good = await Promise.all(
      [site.secretKey, second!, third!].map((each) => siteBySecret(serviceEnv, each, now)),
    );
    expect(good.map((found) => found !== null)).toEqual([false, true, true]);
  });

  test('of an inactive site or another account’s site is not rotated', async () => {
    const [own, other] = [await newAccount(), await newAccount()];
    const mixed = { accountId: own.account.id, siteKey: other.site.siteKey };
    expect(await rotateSiteSecret(serviceEnv, mixed, testNow(), testNow())).toBeNull();
    await serviceEnv.DB.prepare('UPDATE sites SET active = 0 WHERE site_key = ?').bind(own.site.siteKey).run();
    const inactive = { accountId: own.account.id, siteKey: own.site.siteKey };
    expect(await rotateSiteSecret(serviceEnv, inactive, testNow(), testNow())).toBeNull();
  });

  test('reaches the edge with its configuration', async () => {
    const { account, site } = await newAccount();
    const now = testNow();
    const instance = await createInstance(
      serviceEnv,
      {
        accountId: account.id,
        name: 'gate',
        cname: `${site.siteKey}.example.com`.toLowerCase(),
        globalSiteKey: site.siteKey,
        policy: instanceSettings.parse({}),
      },
      now,
    );
    if (!instance.ok) throw new Error(instance.error);
    const { clientJwt } = await issueClientJwt(serviceEnv, serviceUrl, instance.value.id, 1, now);
    const config = async (): Promise<{ configVersion: string; secretKey: string }> =>
      (await send('/edge/v1/config', { headers: { authorization: `Bearer ${clientJwt}` } })).json();
    const before = await config();
    const secret = await rotateSiteSecret(serviceEnv, { accountId: account.id, siteKey: site.siteKey }, now, now);
    const after = await config();
    expect(before.secretKey).toBe(site.secretKey);
    expect(after.secretKey).toBe(secret);
    expect(after.configVersion).not.toBe(before.configVersion);
  });
});
