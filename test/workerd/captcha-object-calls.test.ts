/**
 * What a challenge calls of Durable Objects, from the challenge to the verification by the edge, compared with what the
 * bill assumes (src/cli/cost).
 */
import { afterEach, expect, test } from 'vitest';
import {
  EVENTS_PER_CHALLENGE,
  OBJECT_CALLS_PER_CHALLENGE,
  OBJECT_CALLS_PER_PICTURE,
  SERVICE_CALLS_PER_CHALLENGE,
} from '../../src/cli/cost/usage.ts';
import { imageLayout } from '../../src/captcha/visual/derive-answer.ts';
import { background } from '../support/background-work.ts';
import { later } from '../support/clock.ts';
import {
  askForUnpaidPicture,
  bindTo,
  env,
  freshAddress,
  handIn,
  keyring,
  makeSite,
  opened,
  post,
  solvePow,
  tokenFor,
} from './captcha-harness.ts';
import { countedCalls } from './called-objects.ts';

const { env: counted, made } = countedCalls(env);
bindTo(counted);
afterEach(() => {
  made.length = 0;
});

const verify = (site: { secretKey: string }, token: string): Promise<unknown> =>
  post('/siteverify', { secret: site.secretKey, token, audience: 'edge' });
const madeOf = (namespace: string): number => made.filter((name) => name.startsWith(namespace)).length;

test('a proof of work spends one key, and its events travel in batches', async () => {
  const challenges = 20;
  const site = await makeSite('premium');
  for (let challenge = 0; challenge < challenges; challenge++) await verify(site, await tokenFor(site));
  await Promise.all(background);
  expect({ calls: made.length - madeOf('VERDICT_SHARD'), made }).toEqual({
    calls: challenges * OBJECT_CALLS_PER_CHALLENGE,
    made,
  });
  // The proof of work, its solution and the verification are three requests, and an event each at most.
  expect(EVENTS_PER_CHALLENGE).toBe(SERVICE_CALLS_PER_CHALLENGE);
  expect(madeOf('VERDICT_SHARD')).toBeLessThan(challenges);
});

test('two rounds of pictures call as many objects more as the bill says', async () => {
  const site = await makeSite('premium', { captchaType: 'image' });
  const from = { 'cf-connecting-ip': freshAddress() };
  let picture = await askForUnpaidPicture(site, {}, from);
  let token = '';
  for (let round = 0; round < 2; round++) {
    const { shape, tiles } = await imageLayout(keyring, await opened(picture));
    later(20_000);
    const selected = tiles.flatMap((tile, index) => (tile === shape ? [index] : []));
    // The work beside the first picture goes with its answer.
    const { body } = await handIn(picture.challenge, { selected, ...(await solvePow(picture)) }, from);
    if (body.next) picture = body.next;
    token = body.token ?? '';
  }
  await verify(site, token);
  await Promise.all(background);
  expect({ calls: made.length - madeOf('VERDICT_SHARD'), made }).toEqual({
    calls: OBJECT_CALLS_PER_CHALLENGE + OBJECT_CALLS_PER_PICTURE,
    made,
  });
});
