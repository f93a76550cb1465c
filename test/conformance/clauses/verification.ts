/** Verifying the token of a form on the site's backend. */
import { expect } from 'vitest';
import { accountTiers } from '../../../src/contract/vocabulary.ts';
import { eventually } from '../../support/eventually.ts';
import type { Clause } from '../service.ts';

const BLOCKED_IP = '203.0.113.9';
/** The service's dataset says that it is known for abuse. */
export const ABUSED_IP = '203.0.113.10';
const FLAG = 'API.FLAGGED_IP_VALIDATION';

export const verification: readonly Clause[] = [
  {
    kind: 'endpoint',
    says: 'POST /siteverify verifies a token once, with the site secret and without an API key',
    async holds(service) {
      const site = await (await service.account()).addSite();
      const token = await service.token(site.siteKey);
      expect(await service.verify(site.secretKey, token)).toMatchObject({ verified: true });
      expect(await service.verify(site.secretKey, token)).toMatchObject({ verified: false });
    },
  },
  {
    kind: 'field',
    says: 'token may be the token itself or the whole value of the form field',
    async holds(service) {
      const site = await (await service.account()).addSite();
      const token = await service.token(site.siteKey);
      expect(await service.verify(site.secretKey, JSON.stringify({ token }))).toMatchObject({ verified: true });
    },
  },
  {
    kind: 'field',
    says: 'verified is false, with status 200, for an invalid token and for a token of another site',
    async holds(service) {
      const account = await service.account();
      const [site, other] = [await account.addSite(), await account.addSite()];
      const token = await service.token(other.siteKey);
      for (const wrong of ['', 'nonsense', '{"token":7}', token]) {
        expect(await service.verify(site.secretKey, wrong)).toMatchObject({ verified: false });
      }
    },
  },
  {
    kind: 'field',
    says: 'score is a number from 0 to 1 on the premium tier and absent on every other tier',
    async holds(service) {
      for (const tier of accountTiers) {
        const site = await (await service.account({ tier })).addSite();
        const { verified, score } = await service.verify(site.secretKey, await service.token(site.siteKey));
        expect([tier, verified, typeof score]).toEqual([tier, true, tier === 'premium' ? 'number' : 'undefined']);
        if (score !== undefined) expect(Math.abs(score - 0.5)).toBeLessThanOrEqual(0.5);
      }
    },
  },
  {
    kind: 'field',
    says: 'ip is checked on the professional and enterprise tiers and ignored on the free tier',
    async holds(service) {
      for (const [tier, verified] of [
        ['free', true],
        ['professional', false],
        ['enterprise', false],
      ] as const) {
        const account = await service.account({ tier });
        await account.block('ip', BLOCKED_IP);
        const site = await account.addSite();
        const answer = await service.verify(site.secretKey, await service.token(site.siteKey), { ip: BLOCKED_IP });
        expect([tier, answer.verified]).toEqual([tier, verified]);
      }
    },
  },
  {
    kind: 'field',
    says: 'email filters temporary addresses on paid tiers, by its domain alone too, and is ignored on the free tier',
    async holds(service) {
      for (const [tier, email, verified] of [
        ['professional', 'someone@mailinator.com', false],
        ['enterprise', 'mailinator.com', false],
        ['professional', 'someone@example.org', true],
        ['free', 'mailinator.com', true],
      ] as const) {
        const site = await (await service.account({ tier })).addSite({ spamEmailDomainCheckEnabled: true });
        const answer = await service.verify(site.secretKey, await service.token(site.siteKey), { email });
        expect([tier, email, answer.verified]).toEqual([tier, email, verified]);
      }
    },
  },
  {
    kind: 'silent',
    says: 'ip that is no address is ignored with notEvaluated on every tier, and an empty email counts as absent',
    async holds(service) {
      for (const [tier, ip] of [
        ['free', null],
        ['professional', 'unknown'],
        ['enterprise', ['192.0.2.9']],
        ['premium', '192.0.2.9:4711'],
      ] as const) {
        const site = await (await service.account({ tier })).addSite({ spamEmailDomainCheckEnabled: true });
        const token = await service.token(site.siteKey);
        const answer = await service.verify(site.secretKey, token, { ip, email: '' });
        expect([tier, answer.verified, answer.notEvaluated]).toEqual([tier, true, ['ip']]);
      }
    },
  },
  {
    kind: 'silent',
    says: 'the addresses for clients of other services take remoteip: null',
    async holds(service) {
      const site = await (await service.account()).addSite();
      for (const path of ['/turnstile/v0/siteverify', '/hcaptcha/siteverify', '/recaptcha/api/siteverify']) {
        const response = await service.token(site.siteKey);
        const { status, body } = await service.send(path, { secret: site.secretKey, response, remoteip: null });
        expect([path, status, body.success]).toEqual([path, 200, true]);
      }
    },
  },
  {
    kind: 'field',
    says: 'the action flag of ipValidationRules raises the score, is the reason on paid tiers, and is in the audit record',
    async holds(service) {
      const ipValidationRules = { enabled: true, actions: { abuseScoreExceedAction: 'flag' } };
      for (const tier of ['free', 'premium'] as const) {
        const account = await service.account({ tier });
        const site = await account.addSite({ ipValidationRules });
        const usual = await service.verify(site.secretKey, await service.token(site.siteKey));
        const flagged = await service.verify(site.secretKey, await service.token(site.siteKey), { ip: ABUSED_IP });
        const isPaid = tier !== 'free';
        expect([tier, flagged.verified, flagged.reason]).toEqual([tier, true, isPaid ? FLAG : undefined]);
        if (tier === 'premium') expect((flagged.score ?? 0) - (usual.score ?? 0)).toBeCloseTo(0.3);
        if (!isPaid) continue;
        const searchCriteria = { resultReason: FLAG, triggeredDetectors: ['flagged-address'] };
        const { records } = await eventually(
          () => account.api.post('/audit/searchcaptcharecords', { searchCriteria }),
          ({ total }) => total === 1,
        );
        expect(records[0]).toMatchObject({ status: 'Approved', verified: true, resultReason: FLAG });
        expect(records[0]?.score).toBeGreaterThanOrEqual(0.3);
      }
    },
  },
  {
    kind: 'rejection',
    says: '/siteverify refuses a body without secret or token with 400',
    async holds(service) {
      for (const [body, field] of [
        [{ token: 'x' }, 'secret'],
        [{ secret: 'x' }, 'token'],
        [{ secret: 'x', token: 7 }, 'token'],
      ] as const) {
        const { status, paths } = await service.send('/siteverify', body);
        expect([status, paths]).toEqual([400, [field]]);
      }
    },
  },
  {
    kind: 'rejection',
    says: 'neither an API key nor an unknown secret verifies, and a site secret calls no management endpoint',
    async holds(service) {
      const account = await service.account();
      const site = await account.addSite();
      for (const secret of [account.key, 'unknown']) {
        expect((await service.send('/siteverify', { secret, token: 'x' })).status).toBe(401);
      }
      expect((await account.withKey(site.secretKey).call('/sites/get', {})).status).toBe(401);
    },
  },
  {
    kind: 'state',
    says: 'a deactivated site verifies nothing and issues no challenge',
    async holds(service) {
      const account = await service.account();
      const [, site] = [await account.addSite(), await account.addSite()];
      const token = await service.token(site.siteKey);
      await account.api.post('/sites/delete', { siteKey: site.siteKey });
      await eventually(
        () => service.send('/siteverify', { secret: site.secretKey, token }),
        ({ status }) => status === 401,
      );
      await eventually(
        () => service.challenge(site.siteKey),
        ({ status }) => status === 400,
      );
    },
  },
];
