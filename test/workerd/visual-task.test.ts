/** Tasks that a person solves, on the real bindings: rounds, one attempt each, and a form without pictures. */
import { beforeAll, describe, expect, test } from 'vitest';
import { audioLayout, imageLayout, puzzleLayout } from '../../src/captcha/visual/derive-answer.ts';
import { puzzleTarget } from '../../src/captcha/visual/puzzle/puzzle-task.ts';
import { openToken } from '../../src/captcha/seal/sealed-token.ts';
import type { ChallengeResponse } from '../../src/contract/captcha/challenge-api.ts';
import { testSiteKey } from '../../src/contract/captcha/test-keys.ts';
import type { SiteRecord } from '../../src/store/d1/sites.ts';
import { ask, freshAddress, handIn, keyring, makeSite, opened } from './captcha-harness.ts';

/** The tiles that a person would click. */
async function rightTiles(challenge: ChallengeResponse): Promise<number[]> {
  const { shape, tiles } = await imageLayout(keyring, await opened(challenge));
  return tiles.flatMap((tile, index) => (tile === shape ? [index] : []));
}

/** Where a person would put the piece. */
async function target(challenge: ChallengeResponse): Promise<{ x: number; y: number }> {
  return puzzleTarget(await puzzleLayout(keyring, await opened(challenge)));
}

describe('an image task', () => {
  let site: SiteRecord;
  beforeAll(async () => {
    site = await makeSite('premium', { captchaType: 'image' });
  });

  test('takes two rounds and gives a token of level 2', async () => {
    const from = { 'cf-connecting-ip': freshAddress() };
    const first = await ask(site, {}, from);
    expect(first).toMatchObject({ kind: 'image', image: { round: 1, rounds: 2, columns: 3, rows: 3 } });
    const second = await handIn(first.challenge, { selected: await rightTiles(first) }, from);
    expect(second.body).toMatchObject({ verified: false, next: { jti: first.jti, image: { round: 2 } } });
    const next = second.body.next!;
    const done = await handIn(next.challenge, { selected: await rightTiles(next) }, from);
    const token = await openToken(keyring, done.body.token ?? '', Date.now());
    expect(token).toMatchObject({ jti: first.jti, level: 2, kind: 'image' });
  });

  test('can be answered once per round, so that a right answer after a wrong one is refused', async () => {
    const challenge = await ask(site);
    const right = await rightTiles(challenge);
    const wrong = [0, 1, 2, 3, 4, 5, 6, 7, 8].filter((tile) => !right.includes(tile));
    await handIn(challenge.challenge, { selected: wrong });
    expect((await handIn(challenge.challenge, { selected: right })).body).toEqual({
      verified: false,
      reason: 'CAPTCHA.INVALID_CAPTCHA_CHALLENGE',
    });
    // The same answer again, as after a lost connection, is accepted.
    expect((await handIn(challenge.challenge, { selected: wrong })).body.next).toBeDefined();
  });

  test('ends after three failed tries', async () => {
    let challenge: ChallengeResponse | undefined = await ask(site);
    const rounds: number[] = [];
    while (challenge !== undefined) {
      rounds.push(challenge.image!.round);
      const answer = await handIn(challenge.challenge, { selected: 'no list' });
      challenge = answer.body.next;
    }
    expect(rounds).toEqual([1, 2, 1, 2, 1, 2]);
  });

  test('has the same number of bytes whatever it shows, and different bytes each time', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(site)));
    expect(new Set(answers.map((answer) => answer.image!.picture.pixels.length)).size).toBe(1);
    expect(new Set(answers.map((answer) => answer.image!.picture.pixels)).size).toBe(20);
  });

  test('has an audio form', async () => {
    const challenge = await ask(site, { capabilities: { audio: true } });
    expect(challenge.audio).toMatchObject({ groups: 4, most: 5, sampleRate: 8000 });
    expect(challenge.image).toBeUndefined();
    const digits = (await audioLayout(keyring, await opened(challenge))).join(' ');
    const done = await handIn(challenge.challenge, { digits });
    expect((await openToken(keyring, done.body.token ?? '', Date.now()))?.level).toBe(2);
  });

  test('is what the interactive test key shows', async () => {
    expect((await ask({ siteKey: testSiteKey('interactive') })).kind).toBe('image');
  });
});

describe('a puzzle task', () => {
  let site: SiteRecord;
  beforeAll(async () => {
    site = await makeSite('premium', { captchaType: 'puzzle', puzzleTolerance: 6 });
  });

  test.each([
    [0, 0, true],
    [6, 0, true],
    [0, -6, true],
    [4, -4, true],
    [6, -6, false],
    [7, 0, false],
    [0, 7, false],
  ])('off by %i, %i pixels: %s', async (dx, dy, verified) => {
    const challenge = await ask(site);
    const { x, y } = await target(challenge);
    const answer = await handIn(challenge.challenge, { finalX: x + dx, finalY: y + dy });
    expect(answer.body.verified).toBe(verified);
    if (!verified) expect(answer.body.next?.jti).toBe(challenge.jti);
  });

  test.each([
    {},
    { finalX: '1', finalY: 2 },
    { finalX: null, finalY: null },
    { finalX: 1e12, finalY: 0 },
    { path: 'x' },
  ])('is not solved by %j', async (solution) => {
    expect((await handIn((await ask(site)).challenge, solution)).body.verified).toBe(false);
  });

  test('raises the score for a path that no hand draws', async () => {
    const challenge = await ask(site);
    const { x, y } = await target(challenge);
    const path = Array.from({ length: 20 }, (_, index) => [index * 5, index * 2, index * 16]);
    const answer = await handIn(challenge.challenge, { finalX: x, finalY: y, path });
    expect((await openToken(keyring, answer.body.token ?? '', Date.now()))?.facts.detectors).toContain(
      'mechanical-path',
    );
  });
});
