/** What the edge's client makes of the service's answers: whose fault it is, and what it says of the client JWT. */
import { expect, test } from 'vitest';
import type { ServiceQuestion } from '../../../src/edge/feed/service-client.ts';
import { expectRows } from '../../support/rows.ts';
import { ok } from '../../../src/result.ts';
import { serviceThat } from '../../support/service-client.ts';

const ofVisitor: ServiceQuestion<true> = {
  path: '/captcha/v1/challenge',
  timeoutMs: 1000,
  maxBytes: 1000,
  isForVisitor: true,
  read: () => ok(true),
};
const refusal = (status: number, key?: string): Response =>
  Response.json(key === undefined ? {} : { error: { code: status, message: 'No.', key } }, { status });

test('a body that the service refuses is the visitor’s fault, and makes no challenge easier', () =>
  expectRows(
    ['API.TOO_MANY_ITEMS', 'API.BODY_TOO_LARGE', 'API.INVALID_BODY', 'CAPTCHA.NO_SUCH', 'API.RATE_LIMITED'],
    async (key) => {
      const counted: string[] = [];
      const service = serviceThat(
        () => refusal(413, key),
        (name) => counted.push(name),
      );
      expect(await service.ask(ofVisitor, {})).toEqual({ ok: false, error: { kind: 'visitor', status: 413, key } });
      expect(counted).toEqual([]);
    },
  ));

test('a refusal of the edge itself is never told to a visitor', async () => {
  const service = serviceThat(() => refusal(401, 'API.UNAUTHORIZED'));
  expect(await service.ask(ofVisitor, {})).toEqual({ ok: false, error: { kind: 'refused', status: 401 } });
  expect([service.jwtRefused, service.reachable]).toEqual([true, false]);
});

test('a firewall on the way says nothing about the client JWT, whatever a question holds', async () => {
  const service = serviceThat(() => new Response('<h1>Forbidden</h1>', { status: 403 }));
  expect(await service.ask(ofVisitor, {})).toMatchObject({ error: { kind: 'unreadable' } });
  const nonce = { agent: 'https://agent.test', keyid: 'k', nonce: "' UNION SELECT", expiresAt: 1 };
  expect(await service.spendNonce(nonce)).toMatchObject({ error: { kind: 'unreadable' } });
  expect([service.jwtRefused, service.reachable]).toEqual([false, true]);
});

test('an address without a credential says nothing about the client JWT, good or bad', async () => {
  let status = 403;
  const service = serviceThat((path) =>
    path.startsWith('/edge/') ? refusal(401, 'API.UNAUTHORIZED') : new Response('x', { status }),
  );
  const file = { ...ofVisitor, path: '/protect.js', isForVisitor: false, isPublic: true };
  expect((await service.ask(file)).ok).toBe(false);
  expect(service.jwtRefused).toBe(false);
  await service.config();
  status = 200;
  expect((await service.ask(file)).ok).toBe(true);
  expect(service.jwtRefused).toBe(true);
});
