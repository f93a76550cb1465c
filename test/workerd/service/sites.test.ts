/** Sites over the management API. */
import { describe, expect, test } from 'vitest';
import { newInstanceSettings } from '../../../src/contract/management/instance-settings.ts';
import type { PermissionMap } from '../../../src/contract/management/permissions.ts';
import { updateAccount } from '../../../src/store/d1/accounts.ts';
import { createInstance, instanceById } from '../../../src/store/d1/instances.ts';
import { siteBySecret, sitesOfAccount } from '../../../src/store/d1/sites.ts';
import { allPermissions, call, newAccount, serviceEnv } from './service-under-test.ts';
import { testNow } from '../../support/clock.ts';
import { expectRows } from '../../support/rows.ts';

describe('creating a site', () => {
  test('generates both keys, fills in the defaults and makes the first site the default', async () => {
    const { token } = await newAccount();
    const { status, body } = await call(token, '/sites/create', {
      name: 'shop_2-eu',
      settings: { domains: ['example.com'] },
    });
    expect(status).toBe(200);
    expect(Object.keys(body).toSorted()).toEqual(
      [
        'active',
        'backendVerifiedAt',
        'createdAt',
        'isDefault',
        'name',
        'secretKey',
        'settings',
        'siteKey',
        'updatedAt',
        'version',
        'widgetSolvedAt',
      ].toSorted(),
    );
    expect(body).toMatchObject({
      name: 'shop_2-eu',
      active: true,
      isDefault: false,
      settings: { domains: ['example.com'], captchaType: 'frictionless', powDifficulty: 4, verifiedTimeout: 120_000 },
    });
    expect((await siteBySecret(serviceEnv, body.secretKey, testNow()))?.siteKey).toBe(body.siteKey);
    const all = await call(token, '/sites/get', {});
    expect(all.body.map((site: { isDefault: boolean }) => site.isDefault)).toEqual([true, false]);
  });

  test('stores a domain as its host name', () =>
    expectRows(
      [
        ['HTTPS://WWW.Example.COM/', 'example.com'],
        ['http://example.com', 'example.com'],
        ['www.example.com', 'example.com'],
        ['*.Example.com', '*.example.com'],
        ['localhost', 'localhost'],
      ],
      async ([given, stored]) => {
        const { token } = await newAccount();
        const { body } = await call(token, '/sites/create', { name: 'a', settings: { domains: [given] } });
        expect(body.settings.domains).toEqual([stored]);
      },
    ));

  test('with a mistake is refused by its path', () =>
    expectRows(
      [
        ['a bare wildcard', { name: 'a', settings: { domains: ['*'] } }, 'settings.domains.0'],
        ['no domain', { name: 'a', settings: { domains: [] } }, 'settings.domains'],
        ['no settings', { name: 'a' }, 'settings'],
        ['a blank in the name', { name: 'a b', settings: { domains: ['a.example'] } }, 'name'],
        ['an umlaut in the name', { name: 'ä', settings: { domains: ['a.example'] } }, 'name'],
        ['an empty name', { name: '', settings: { domains: ['a.example'] } }, 'name'],
        ['a chosen key', { name: 'a', siteKey: 'mine', settings: { domains: ['a.example'] } }, 'siteKey'],
        [
          'an unknown setting',
          { name: 'a', settings: { domains: ['a.example'], powDificulty: 4 } },
          'settings.powDificulty',
        ],
        [
          'a timeout out of range',
          { name: 'a', settings: { domains: ['a.example'], verifiedTimeout: 1 } },
          'settings.verifiedTimeout',
        ],
      ],
      async ([, body, path]) => {
        const { token } = await newAccount();
        const answer = await call(token, '/sites/create', body);
        expect([answer.status, answer.body.error.key]).toEqual([400, 'API.INVALID_BODY']);
        expect(answer.body.error.details.map((detail: { path: string }) => detail.path)).toContain(path);
      },
    ));

  test('a name is unique within an account, and other accounts may use it', async () => {
    const first = await newAccount();
    const second = await newAccount();
    const body = { name: 'same', settings: { domains: ['a.example'] } };
    expect((await call(first.token, '/sites/create', body)).status).toBe(200);
    expect((await call(second.token, '/sites/create', body)).status).toBe(200);
    const again = await call(first.token, '/sites/create', body);
    expect([again.status, again.body.error.key]).toEqual([400, 'PORTAL.DUPLICATE_SITE_NAME']);
  });
});

describe('the plan', () => {
  test('free allows one domain per site, and localhost is not counted', async () => {
    const { token, site } = await newAccount({ tier: 'free' });
    const one = { name: 'a', settings: { domains: ['localhost', 'a.example', '127.0.0.1', 'app.localhost'] } };
    expect((await call(token, '/sites/create', one)).status).toBe(200);
    const two = { domains: ['a.example', 'b.example'] };
    for (const [path, body] of [
      ['/sites/create', { name: 'b', settings: two }],
      ['/sites/update', { siteKey: site.siteKey, settings: two }],
    ] as const) {
      const answer = await call(token, path, body);
      expect([answer.status, answer.body.error.key]).toEqual([400, 'PORTAL.DOMAIN_LIMIT_EXCEEDED']);
    }
  });

  test('a public suffix is refused, because it stands for millions of sites', () =>
    expectRows(['com', '*.com', '*.co.uk', 'https://www.org/'], async (domain) => {
      const { token } = await newAccount({ tier: 'free' });
      const answer = await call(token, '/sites/create', { name: 'suffix', settings: { domains: [domain] } });
      expect([answer.status, answer.body.error.key]).toEqual([400, 'API.INVALID_BODY']);
      expect(answer.body.error.details[0].path).toBe('settings.domains.0');
    }));

  test('a domain that is no public suffix is accepted', () =>
    expectRows(['intranet', '*.intranet', '192.0.2.1', 'shop.github.io', 'example.co.uk'], async (domain) => {
      const { token } = await newAccount({ tier: 'free' });
      const answer = await call(token, '/sites/create', { name: 'own', settings: { domains: [domain] } });
      expect(answer.status).toBe(200);
    }));

  test('the same domain twice counts once', async () => {
    const { token } = await newAccount({ tier: 'free' });
    const { body } = await call(token, '/sites/create', {
      name: 'a',
      settings: { domains: ['a.example', 'https://www.a.example/'] },
    });
    expect(body.settings.domains).toEqual(['a.example']);
  });
});

describe('changing a site', () => {
  test('leaves the fields that are not sent, and both keys', async () => {
    const { token, site } = await newAccount();
    const { body } = await call(token, '/sites/update', {
      siteKey: site.siteKey,
      settings: { powDifficulty: 6, honeypot: { enabled: true } },
    });
    expect(body).toMatchObject({ name: site.name, secretKey: site.secretKey });
    expect(body.settings).toMatchObject({
      domains: ['example.com'],
      powDifficulty: 6,
      honeypot: { enabled: true, encodingType: 'morse' },
      captchaType: 'frictionless',
    });
  });

  test('keeps two parallel changes of different settings', async () => {
    const { token, site } = await newAccount();
    const { siteKey } = site;
    const results = await Promise.all([
      call(token, '/sites/update', { siteKey, settings: { powDifficulty: 7 } }),
      call(token, '/sites/update', { siteKey, settings: { imageThreshold: 0.9 } }),
      call(token, '/sites/update', { siteKey, name: 'renamed' }),
    ]);
    expect(results.map((result) => result.status)).toEqual([200, 200, 200]);
    const { body } = await call(token, '/site/get', { siteKey });
    expect(body).toMatchObject({ name: 'renamed', settings: { powDifficulty: 7, imageThreshold: 0.9 } });
  });

  test('keeps a dozen parallel changes of different settings', async () => {
    const { token, site } = await newAccount();
    const { siteKey } = site;
    const changes = {
      powDifficulty: 7,
      imageThreshold: 0.9,
      verifiedTimeout: 90_000,
      solutionTimeout: 50_000,
      captchaType: 'image',
      puzzleTolerance: 20,
      puzzleMaxDifficulty: 2,
      imageMaxRounds: 16,
      imageMinRounds: 3,
      disallowWebView: true,
      storeMetadata: true,
      frictionlessThreshold: 0.4,
    };
    const results = await Promise.all(
      Object.entries(changes).map(([name, value]) =>
        call(token, '/sites/update', { siteKey, settings: { [name]: value } }),
      ),
    );
    expect(results.map((result) => result.status)).toEqual(results.map(() => 200));
    expect((await call(token, '/site/get', { siteKey })).body.settings).toMatchObject(changes);
  });

  test('refuses settings that contradict the stored ones', async () => {
    const { token, site } = await newAccount();
    const { siteKey } = site;
    await call(token, '/sites/update', { siteKey, settings: { imageMaxRounds: 4 } });
    const answer = await call(token, '/sites/update', { siteKey, settings: { imageMinRounds: 5 } });
    expect(answer.body.error.details).toEqual([
      { path: 'settings.imageMinRounds', message: 'imageMinRounds must not be above imageMaxRounds' },
    ]);
  });

  test('with isDefault replaces the former default', async () => {
    const { token, site } = await newAccount();
    const second = await call(token, '/sites/create', { name: 'second', settings: { domains: ['b.example'] } });
    const answer = await call(token, '/sites/update', { siteKey: second.body.siteKey, isDefault: true });
    expect(answer.body.isDefault).toBe(true);
    expect((await call(token, '/site/get', { siteKey: site.siteKey })).body.isDefault).toBe(false);
  });

  test('refuses isDefault false for the default site', async () => {
    const { token, site } = await newAccount();
    const { status, body } = await call(token, '/sites/update', { siteKey: site.siteKey, isDefault: false });
    expect([status, body.error.key]).toEqual([400, 'API.BAD_REQUEST']);
    const second = await call(token, '/sites/create', { name: 'second', settings: { domains: ['b.example'] } });
    const other = await call(token, '/sites/update', { siteKey: second.body.siteKey, isDefault: false });
    expect([other.status, other.body.isDefault]).toEqual([200, false]);
  });

  test('refuses a taken name', async () => {
    const { token, site } = await newAccount();
    await call(token, '/sites/create', { name: 'taken', settings: { domains: ['b.example'] } });
    const answer = await call(token, '/sites/update', { siteKey: site.siteKey, name: 'taken' });
    expect([answer.status, answer.body.error.key]).toEqual([400, 'PORTAL.DUPLICATE_SITE_NAME']);
  });

  test('of another account is 404', async () => {
    const { token } = await newAccount();
    const { site } = await newAccount();
    for (const path of ['/site/get', '/sites/update', '/sites/delete']) {
      const answer = await call(token, path, { siteKey: site.siteKey });
      expect([path, answer.status, answer.body.error.key]).toEqual([path, 404, 'GENERAL.SITE_KEY_NOT_FOUND']);
    }
  });
});

describe('deleting a site', () => {
  test('deactivates it, keeps its record, and makes another site the default', async () => {
    const { token, site } = await newAccount();
    const second = await call(token, '/sites/create', { name: 'second', settings: { domains: ['b.example'] } });
    const answer = await call(token, '/sites/delete', { siteKey: site.siteKey });
    expect(answer.body).toEqual({ success: true, deactivatedSiteKey: site.siteKey });
    const { body } = await call(token, '/sites/get', {});
    expect(body.map((one: any) => [one.siteKey, one.active, one.isDefault])).toEqual([
      [site.siteKey, false, false],
      [second.body.siteKey, true, true],
    ]);
    expect((await siteBySecret(serviceEnv, site.secretKey, testNow()))?.active).toBe(false);
  });

  test('refuses the last remaining site', async () => {
    const { token, site } = await newAccount();
    const answer = await call(token, '/sites/delete', { siteKey: site.siteKey });
    expect([answer.status, answer.body.error.key]).toEqual([400, 'PORTAL.CANNOT_DEACTIVATE_LAST_SITE']);
    expect((await call(token, '/site/get', { siteKey: site.siteKey })).body.active).toBe(true);
  });

  test('of two sites at once leaves one active', async () => {
    const { token, site } = await newAccount();
    const second = await call(token, '/sites/create', { name: 'second', settings: { domains: ['b.example'] } });
    const results = await Promise.all(
      [site.siteKey, second.body.siteKey].map((siteKey) => call(token, '/sites/delete', { siteKey })),
    );
    expect(results.map((result) => result.status).toSorted((a, b) => a - b)).toEqual([200, 400]);
  });
});

describe('a site that an active instance uses', () => {
  /** Two sites, because the last one stays anyway. */
  async function used(permissions?: PermissionMap) {
    const owner = await newAccount(permissions ? { permissions } : {});
    await call(owner.token, '/sites/create', { name: 'second', settings: { domains: ['b.example'] } });
    const instance = await createInstance(
      serviceEnv,
      {
        accountId: owner.account.id,
        name: 'Shop',
        cname: 'shop.example',
        globalSiteKey: owner.site.siteKey,
        policy: newInstanceSettings.parse({}),
      },
      testNow(),
    );
    if (!instance.ok) throw new Error(instance.error);
    const active = async () => {
      const site = await call(owner.token, '/site/get', { siteKey: owner.site.siteKey });
      const stored = await instanceById(serviceEnv, instance.value.id);
      return [site.body.active, stored?.active];
    };
    return { ...owner, siteKey: owner.site.siteKey, instanceId: instance.value.id, active };
  }

  test('is not deactivated, and the answer names the instance', async () => {
    const { token, siteKey, instanceId, active } = await used();
    const { status, body } = await call(token, '/sites/delete', { siteKey });
    expect([status, body.error.key]).toEqual([409, 'API.CONFLICT']);
    expect(body.error.message).toContain(instanceId);
    expect(body.error.message).toContain('Shop');
    expect(await active()).toEqual([true, true]);
  });

  test('is deactivated together with the instance when the call asks for both', async () => {
    const { token, siteKey, instanceId, active } = await used();
    const { body } = await call(token, '/sites/delete', { siteKey, deactivateInstance: true });
    expect(body).toEqual({ success: true, deactivatedSiteKey: siteKey, deactivatedInstanceId: instanceId });
    expect(await active()).toEqual([false, false]);
  });

  test('takes the instance with it only for a key that may delete instances', async () => {
    const { Protect: _, ...permissions } = allPermissions;
    const { token, siteKey, active } = await used(permissions);
    const { status, body } = await call(token, '/sites/delete', { siteKey, deactivateInstance: true });
    expect([status, body.error.key]).toEqual([403, 'API.INSUFFICIENT_PERMISSIONS']);
    expect(await active()).toEqual([true, true]);
  });

  test('as the last site keeps its instance as well', async () => {
    const { token, siteKey, active, account } = await used();
    const second = (await sitesOfAccount(serviceEnv, account.id)).find((site) => site.siteKey !== siteKey);
    await call(token, '/sites/delete', { siteKey: second?.siteKey });
    const { status, body } = await call(token, '/sites/delete', { siteKey, deactivateInstance: true });
    expect([status, body.error.key]).toEqual([400, 'PORTAL.CANNOT_DEACTIVATE_LAST_SITE']);
    expect(await active()).toEqual([true, true]);
  });

  test('is never inactive when an instance is created for it at the same time', async () => {
    const { token, site } = await newAccount();
    await call(token, '/sites/create', { name: 'second', settings: { domains: ['b.example'] } });
    const identity = { name: 'Shop', cname: 'shop.example', globalSiteKey: site.siteKey };
    await Promise.all([
      call(token, '/sites/delete', { siteKey: site.siteKey }),
      call(token, '/protect/instances/create', identity),
    ]);
    const { body } = await call(token, '/site/get', { siteKey: site.siteKey });
    const instances = (await call(token, '/protect/instances', {})).body;
    expect(instances.some((one: any) => one.active)).toBe(body.active);
  });
});

describe('reactivating a site', () => {
  test('brings it back with its keys and settings, and is in the audit trail', async () => {
    const { token, site } = await newAccount();
    await call(token, '/sites/create', { name: 'second', settings: { domains: ['b.example'] } });
    await call(token, '/sites/delete', { siteKey: site.siteKey });
    const { status, body } = await call(token, '/sites/activate', { siteKey: site.siteKey });
    expect([status, body]).toMatchObject([
      200,
      { siteKey: site.siteKey, secretKey: site.secretKey, active: true, isDefault: false, settings: site.settings },
    ]);
    expect((await siteBySecret(serviceEnv, site.secretKey, testNow()))?.active).toBe(true);
    const trail = await call(token, '/audit-trail/get', { limit: 1 });
    expect(trail.body.entries[0]).toMatchObject({ operation: 'activate-site', body: { siteKey: site.siteKey } });
  });

  test('that is active changes nothing, and of another account it is 404', async () => {
    const mine = await newAccount();
    const other = await newAccount();
    const before = await call(mine.token, '/site/get', { siteKey: mine.site.siteKey });
    const again = await call(mine.token, '/sites/activate', { siteKey: mine.site.siteKey });
    expect([again.status, again.body]).toEqual([200, before.body]);
    expect((await call(other.token, '/sites/activate', { siteKey: mine.site.siteKey })).status).toBe(404);
  });

  test('with more domains than the plan has today is refused', async () => {
    const { token, account } = await newAccount();
    const settings = { domains: ['a.example', 'b.example'] };
    const { siteKey } = (await call(token, '/sites/create', { name: 'two', settings })).body;
    await call(token, '/sites/delete', { siteKey });
    await updateAccount(serviceEnv, account.id, { tier: 'free' }, testNow());
    const { status, body } = await call(token, '/sites/activate', { siteKey });
    expect([status, body.error.key]).toEqual([400, 'PORTAL.DOMAIN_LIMIT_EXCEEDED']);
  });
});
