/** Sites, their keys and their settings. */
import { expect } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { Clause } from '../service.ts';

const settings = { domains: ['shop.example'] };

export const sites: readonly Clause[] = [
  {
    kind: 'endpoint',
    says: 'POST /sites/create returns the new site, with both keys generated and every setting filled in',
    async holds(service) {
      const site = await (await service.account()).api.post('/sites/create', { name: 'shop_2-eu', settings });
      expect(site).toMatchObject({ name: 'shop_2-eu', active: true, settings });
      expect(site.siteKey).not.toBe(site.secretKey);
      expect([typeof site.createdAt, typeof site.updatedAt]).toEqual(['number', 'number']);
      expect(Object.keys(site.settings)).toEqual(
        expect.arrayContaining([
          'captchaType',
          'frictionlessThreshold',
          'imageThreshold',
          'powDifficulty',
          'verifiedTimeout',
          'solutionTimeout',
        ]),
      );
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /sites/get lists every site of the account, POST /site/get returns one',
    async holds(service) {
      const account = await service.account();
      const made = [await account.addSite(), await account.addSite()];
      const byKey = (a: { siteKey: string }, b: { siteKey: string }) => (a.siteKey < b.siteKey ? -1 : 1);
      const listed = await account.api.post('/sites/get');
      const alone = await Promise.all(made.map(({ siteKey }) => account.api.post('/site/get', { siteKey })));
      expect(listed.toSorted(byKey)).toEqual(alone.toSorted(byKey));
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /sites/update changes the fields that are sent and returns the site',
    async holds(service) {
      const account = await service.account();
      const site = await account.addSite();
      const changed = await account.api.post('/sites/update', {
        siteKey: site.siteKey,
        name: 'renamed',
        settings: { powDifficulty: 5 },
      });
      const { updatedAt, version } = changed;
      expect(changed).toEqual({
        ...site,
        name: 'renamed',
        updatedAt,
        version,
        settings: { ...site.settings, powDifficulty: 5 },
      });
      expect(updatedAt).toBeGreaterThanOrEqual(site.updatedAt);
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /sites/activate brings a deactivated site back with its keys',
    async holds(service) {
      const account = await service.account();
      const [, gone] = [await account.addSite(), await account.addSite()];
      await account.api.post('/sites/delete', { siteKey: gone.siteKey });
      expect(await account.api.post('/sites/activate', { siteKey: gone.siteKey })).toMatchObject({
        siteKey: gone.siteKey,
        secretKey: gone.secretKey,
        active: true,
      });
    },
  },
  {
    kind: 'endpoint',
    says: 'POST /sites/delete deactivates the site without erasing it, and names it',
    async holds(service) {
      const account = await service.account();
      const [kept, gone] = [await account.addSite(), await account.addSite()];
      expect(await account.api.post('/sites/delete', { siteKey: gone.siteKey })).toEqual({
        success: true,
        deactivatedSiteKey: gone.siteKey,
      });
      const active = (await account.api.post('/sites/get')).map((site) => [site.siteKey, site.active]);
      expect(active).toEqual(
        expect.arrayContaining([
          [kept.siteKey, true],
          [gone.siteKey, false],
        ]),
      );
    },
  },
  {
    kind: 'field',
    says: 'isDefault on update makes the site the default of the account, in place of the former one',
    async holds(service) {
      const account = await service.account();
      const [, second] = [await account.addSite(), await account.addSite()];
      await account.api.post('/sites/update', { siteKey: second.siteKey, isDefault: true });
      const defaults = (await account.api.post('/sites/get')).filter((site) => site.isDefault);
      expect(defaults.map((site) => site.siteKey)).toEqual([second.siteKey]);
    },
  },
  {
    kind: 'field',
    says: 'a domain is stored in lower case without scheme, leading www. and trailing slash',
    async holds(service) {
      const account = await service.account();
      for (const [given, stored] of [
        ['HTTPS://WWW.Example.COM/', 'example.com'],
        ['http://example.com', 'example.com'],
        ['www.example.com', 'example.com'],
        ['*.Example.com', '*.example.com'],
      ] as const) {
        const site = await account.addSite({ domains: [given] });
        expect(site.settings.domains).toEqual([stored]);
      }
    },
  },
  {
    kind: 'field',
    says: 'every setting that a site may have is accepted, kept and returned',
    async holds(service) {
      const account = await service.account();
      const { siteKey } = await account.addSite();
      const changes = {
        domains: ['a.example', '*.b.example'],
        captchaType: 'image',
        frictionlessThreshold: 0.4,
        imageThreshold: 0.9,
        powDifficulty: 6,
        verifiedTimeout: 90_000,
        solutionTimeout: 50_000,
        honeypot: { enabled: true },
        spamFilter: { enabled: true },
        trafficFilter: { tor: { action: 'block' } },
        ipValidationRules: { enabled: true },
      } as const;
      for (const [name, value] of Object.entries(changes)) {
        const { status, body } = await account.call('/sites/update', { siteKey, settings: { [name]: value } });
        expect([name, status]).toEqual([name, 200]);
        expect(body.settings[name]).toEqual(
          typeof value === 'object' && !Array.isArray(value) ? expect.objectContaining(value) : value,
        );
      }
    },
  },
  {
    kind: 'state',
    says: 'a changed site reaches the widget after a short delay',
    async holds(service) {
      const account = await service.account();
      const { siteKey } = await account.addSite();
      expect((await service.challenge(siteKey)).body.kind).toBe('pow');
      await account.api.post('/sites/update', { siteKey, settings: { captchaType: 'image' } });
      await eventually(
        () => service.challenge(siteKey),
        ({ body }) => body.kind === 'image',
      );
    },
  },
  {
    kind: 'limit',
    says: 'the free tier has one domain per site; localhost is not counted',
    async holds(service) {
      const account = await service.account({ tier: 'free' });
      const { siteKey } = await account.addSite({ domains: ['localhost', 'a.example', '127.0.0.1'] });
      const two = { domains: ['a.example', 'b.example'] };
      await account.refused('/sites/create', { name: 'two', settings: two }, 'settings.domains');
      await account.refused('/sites/update', { siteKey, settings: two }, 'settings.domains');
      expect((await (await service.account({ tier: 'professional' })).addSite(two)).settings.domains).toHaveLength(2);
    },
  },
  {
    kind: 'rejection',
    says: 'a site name has letters, digits, hyphens and underscores, and is unique within the account',
    async holds(service) {
      const account = await service.account();
      for (const name of ['', 'a b', 'ä', 'a.b']) await account.refused('/sites/create', { name, settings }, 'name');
      await account.api.post('/sites/create', { name: 'same', settings });
      expect(await account.call('/sites/create', { name: 'same', settings })).toMatchObject({ status: 400 });
      await (await service.account()).api.post('/sites/create', { name: 'same', settings });
    },
  },
  {
    kind: 'rejection',
    says: 'a site name that differs from another by letter case only is refused, on create and on update',
    async holds(service) {
      const account = await service.account();
      const [first, second] = [
        await account.api.post('/sites/create', { name: 'Shop', settings }),
        await account.api.post('/sites/create', { name: 'other', settings }),
      ];
      for (const [path, body] of [
        ['/sites/create', { name: 'shop', settings }],
        ['/sites/update', { siteKey: second.siteKey, name: 'SHOP' }],
        ['/sites/update', { siteKey: second.siteKey, name: 'SHOP', isDefault: true }],
      ] as const) {
        expect(await account.call(path, body)).toMatchObject({ status: 400, key: 'PORTAL.DUPLICATE_SITE_NAME' });
      }
      // Its own name may change in letter case.
      expect((await account.api.post('/sites/update', { siteKey: first.siteKey, name: 'shop' })).name).toBe('shop');
    },
  },
  {
    kind: 'rejection',
    says: 'siteKey and secretKey cannot be chosen, and isDefault is accepted on update only',
    async holds(service) {
      const account = await service.account();
      for (const field of ['siteKey', 'secretKey', 'isDefault']) {
        await account.refused(
          '/sites/create',
          { name: 'a', settings, [field]: field === 'isDefault' ? true : 'mine' },
          field,
        );
      }
      const { siteKey } = await account.addSite();
      await account.refused('/sites/update', { siteKey, secretKey: 'mine' }, 'secretKey');
    },
  },
  {
    kind: 'rejection',
    says: 'a site needs a domain, and a bare * is refused',
    async holds(service) {
      const account = await service.account();
      await account.refused('/sites/create', { name: 'a' }, 'settings');
      await account.refused('/sites/create', { name: 'a', settings: {} }, 'settings.domains');
      await account.refused('/sites/create', { name: 'a', settings: { domains: [] } }, 'settings.domains');
      await account.refused('/sites/create', { name: 'a', settings: { domains: ['*'] } }, 'settings.domains.0');
    },
  },
  {
    kind: 'rejection',
    says: 'the last remaining site cannot be deleted and stays active',
    async holds(service) {
      const account = await service.account();
      const { siteKey } = await account.addSite();
      expect(await account.call('/sites/delete', { siteKey })).toMatchObject({
        status: 400,
        key: 'PORTAL.CANNOT_DEACTIVATE_LAST_SITE',
      });
      expect((await account.api.post('/site/get', { siteKey })).active).toBe(true);
    },
  },
  {
    kind: 'rejection',
    says: 'a site of another account is 404 for every call that names one',
    async holds(service) {
      const [account, other] = [await service.account(), await service.account()];
      const { siteKey } = await other.addSite();
      for (const path of ['/site/get', '/sites/update', '/sites/delete']) {
        expect([path, (await account.call(path, { siteKey })).status]).toEqual([path, 404]);
      }
    },
  },
];
