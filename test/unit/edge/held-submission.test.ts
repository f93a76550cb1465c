/** What becomes of a submission that is held for a challenge and comes back. */
import { expect, test } from 'vitest';
import { holdSubmission, returnedSubmission } from '../../../src/edge/challenge/held-submission.ts';
import type { ChallengePorts } from '../../../src/edge/challenge/check-token.ts';
import { WAIT_SECONDS, WaitLane } from '../../../src/edge/challenge/wait-lane.ts';
import { canonicalTarget } from '../../../src/decide/request-target.ts';
import { BodyBudget } from '../../../src/edge/submission/body-budget.ts';
import type { Submission } from '../../../src/edge/submission/read-submission.ts';
import { NOW_MS, contextOf, factsOf } from './edge-fixture.ts';

const form: Submission = {
  kind: 'urlencoded',
  contentType: 'application/x-www-form-urlencoded',
  body: new Uint8Array(new TextEncoder().encode('a=1')),
  token: null,
};
const ports = {
  environment: { rules: { kind: 'service', clientJwt: '', claims: { instanceId: '', issuedAt: 0, expiresAt: 0 } } },
  waitLane: new WaitLane(null),
} as unknown as ChallengePorts;
const posted = (url: string, body = 'a=1', type = form.contentType) =>
  new Request(url, { method: 'POST', body, headers: { 'content-type': type, origin: 'https://site.test' } });
const context = (changes: Parameters<typeof contextOf>[2] = {}) =>
  contextOf('/form', {}, { ...changes, facts: { request: posted('https://site.test/form'), ...changes.facts } });

async function sealOf(path: string): Promise<string> {
  const step = await holdSubmission(
    await contextOf(path, {}, { facts: { request: posted(`https://site.test${path}`) } }),
    ports,
    form,
  );
  return step.kind === 'answer' && step.answer.kind === 'challenge' ? (step.answer.replay?.seal ?? '') : '';
}

test('a held submission gets a challenge with its seal, and a way through without scripts where waiting counts', async () => {
  const step = await holdSubmission(await context({ site: { minimumLevel: 0 } }), ports, form);
  expect(step).toMatchObject({ kind: 'answer', answer: { kind: 'challenge' } });
  const replay = step.kind === 'answer' && step.answer.kind === 'challenge' ? step.answer.replay : undefined;
  expect(replay?.url).toBe('/form');
  expect(replay?.noScript?.url).toMatch(/^\/__protect\/wait\?ticket=/);
  const strict = await holdSubmission(await context(), ports, form);
  expect(strict).toMatchObject({ answer: { kind: 'challenge', replay: { noScript: null } } });
});

test('back after the wait without clearance, the visitor reads about cookies and is not challenged in a circle', async () => {
  const held = { id: 'seal-1', sealedAtMs: NOW_MS - WAIT_SECONDS * 1000 };
  const step = await holdSubmission(await context({ held }), ports, form);
  expect(step).toMatchObject({ kind: 'answer', answer: { kind: 'message', page: 'cookies-off' } });
  const early = await holdSubmission(await context({ held: { ...held, sealedAtMs: NOW_MS - 1000 } }), ports, form);
  expect(early).toMatchObject({ kind: 'answer', answer: { kind: 'challenge' } });
});

test('a seal opens at its own address and nowhere else', async () => {
  const config = (await contextOf('/form')).config;
  const bodies = new BodyBudget(() => undefined);
  const back = async (path: string, seal: string) => {
    const url = `https://site.test${path}`;
    const facts = factsOf('/', { request: posted(url, `seal=${seal}`, 'text/plain'), target: canonicalTarget(url)! });
    return returnedSubmission(facts, config, bodies);
  };
  const seal = await sealOf('/');
  expect(await back('/', seal)).toMatchObject({
    ok: true,
    value: { facts: { target: { path: '/' } } },
  });
  expect(await back('/__protect/session', seal)).toMatchObject({ ok: false });
  expect(await back('/?a=1', seal)).toMatchObject({ ok: false });
});
