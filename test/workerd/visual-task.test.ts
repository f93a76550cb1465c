/** Tasks that a person solves, on the real bindings: rounds, one attempt each, and a form without pictures. */
import { beforeAll, describe, expect, test } from 'vitest';
import { audioLayout, imageLayout, puzzleLayout } from '../../src/captcha/visual/derive-answer.ts';
import { puzzleTarget } from '../../src/captcha/visual/puzzle/puzzle-task.ts';
import { levelPrices } from '../../src/captcha/plan/level-prices.ts';
import { openToken } from '../../src/captcha/seal/sealed-token.ts';
import type { ChallengeResponse } from '../../src/contract/captcha/challenge-api.ts';
import { testSiteKey } from '../../src/contract/captcha/test-keys.ts';
import type { SiteRecord } from '../../src/store/d1/sites.ts';
import { later, testNow } from '../support/clock.ts';
import { expectRows } from '../support/rows.ts';
import {
  ask,
  askForPicture,
  askForUnpaidPicture,
  freshAddress,
  handIn,
  keyring,
  makeSite,
  opened,
  solvePow,
} from './captcha-harness.ts';

/** Longer than any task needs at least. */
const A_MOMENT_MS = 20_000;

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
    const first = await askForPicture(site, {}, from);
    expect(first).toMatchObject({ kind: 'image', image: { round: 1, rounds: 2, columns: 3, rows: 3 } });
    later(A_MOMENT_MS);
    const second = await handIn(first.challenge, { selected: await rightTiles(first) }, from);
    expect(second.body).toMatchObject({ verified: false, next: { jti: first.jti, image: { round: 2 } } });
    const next = second.body.next!;
    later(A_MOMENT_MS);
    const done = await handIn(next.challenge, { selected: await rightTiles(next) }, from);
    const token = await openToken(keyring, done.body.token ?? '', testNow());
    expect(token).toMatchObject({ jti: first.jti, level: 2, kind: 'image' });
  });

  test('can be answered once per round, so that a right answer after a wrong one is refused', async () => {
    const challenge = await askForPicture(site);
    const right = await rightTiles(challenge);
    const wrong = [0, 1, 2, 3, 4, 5, 6, 7, 8].filter((tile) => !right.includes(tile));
    later(A_MOMENT_MS);
    await handIn(challenge.challenge, { selected: wrong });
    expect((await handIn(challenge.challenge, { selected: right })).body).toEqual({
      verified: false,
      reason: 'CAPTCHA.INVALID_CAPTCHA_CHALLENGE',
    });
    // The same answer again, as after a lost connection, is accepted.
    expect((await handIn(challenge.challenge, { selected: wrong })).body.next).toBeDefined();
  });

  test('ends after three failed tries', async () => {
    let challenge: ChallengeResponse | undefined = await askForPicture(site);
    const rounds: number[] = [];
    while (challenge !== undefined) {
      rounds.push(challenge.image!.round);
      later(A_MOMENT_MS);
      const answer = await handIn(challenge.challenge, { selected: 'no list' });
      challenge = answer.body.next;
    }
    expect(rounds).toEqual([1, 2, 1, 2, 1, 2]);
  });

  test('has the same number of bytes whatever it shows, and different bytes each time', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => askForUnpaidPicture(site)));
    expect(new Set(answers.map((answer) => answer.image!.picture.light.length)).size).toBe(1);
    expect(new Set(answers.map((answer) => answer.image!.picture.light)).size).toBe(20);
  });

  test('has an audio form', async () => {
    const challenge = await askForPicture(site, { capabilities: { audio: true } });
    expect(challenge.audio).toMatchObject({ digits: 5, sampleRate: 16_000 });
    expect(challenge.image).toBeUndefined();
    later(A_MOMENT_MS);
    const digits = (await audioLayout(keyring, await opened(challenge))).join(' ');
    const done = await handIn(challenge.challenge, { digits });
    expect((await openToken(keyring, done.body.token ?? '', testNow()))?.level).toBe(2);
  });

  test('is what the interactive test key shows', async () => {
    expect((await ask({ siteKey: testSiteKey('interactive') })).kind).toBe('image');
  });
});

describe('the proof of work before a picture', () => {
  let site: SiteRecord;
  beforeAll(async () => {
    site = await makeSite('premium', { captchaType: 'image', imageMinRounds: 1 });
  });

  test('comes first, and nothing is drawn before it', () =>
    expectRows(
      [
        ['an image', {}, 'rsw', 'image'],
        ['a recording', { audio: true }, 'rsw', 'audio'],
        ['a browser without BigInt', { bigint: false }, 'sha256', 'image'],
        ['a recording without BigInt', { bigint: false, audio: true }, 'sha256', 'audio'],
      ] as const,
      async ([, capabilities, lane, drawn]) => {
        const challenge = await ask(site, { capabilities });
        expect(challenge).toMatchObject({ kind: 'image', pow: { lane } });
        expect(Object.keys(challenge).toSorted()).toEqual(['challenge', 'expiresAt', 'jti', 'kind', 'pow']);
        const paid = await handIn(challenge.challenge, await solvePow(challenge));
        expect(paid.body).toMatchObject({ verified: false, next: { jti: challenge.jti, kind: 'image' } });
        expect(paid.body.reason).toBeUndefined();
        expect(paid.body.next![drawn]).toBeDefined();
      },
    ));

  test('costs what the site’s difficulty says', async () => {
    const dear = await makeSite('premium', { captchaType: 'puzzle', powDifficulty: 2.5 });
    expect((await ask(dear)).pow?.t).toBe(37_500);
  });

  test('buys one picture, which a lost response brings back to the last bit, twice at most', async () => {
    const challenge = await ask(site);
    const solution = await solvePow(challenge);
    const answers = [];
    for (let time = 0; time < 4; time++) answers.push((await handIn(challenge.challenge, solution)).body);
    const [first, second, third, fourth] = answers;
    for (const again of [second, third]) expect(again!.next?.image).toEqual(first!.next!.image);
    expect(fourth).toEqual({ verified: false, reason: 'CAPTCHA.INVALID_CAPTCHA_CHALLENGE' });
    // The two seals are of one round, which is answered once.
    later(A_MOMENT_MS);
    const right = await rightTiles(first!.next!);
    await handIn(first!.next!.challenge, { selected: [] });
    expect((await handIn(second!.next!.challenge, { selected: right })).body.verified).toBe(false);
  });
});

describe('the work beside a picture', () => {
  let site: SiteRecord;
  beforeAll(async () => {
    site = await makeSite('premium', { captchaType: 'image', imageMinRounds: 1 });
  });

  test('makes the price of level 2 four times that of the work before it, at any difficulty that leaves room', () =>
    expectRows(
      [
        [1, {}],
        [4, {}],
        [7.5, {}],
        [4, { audio: true }],
      ] as const,
      async ([powDifficulty, capabilities]) => {
        const dear = await makeSite('premium', { captchaType: 'image', powDifficulty });
        const challenge = await ask(dear, { capabilities });
        const picture = (await handIn(challenge.challenge, await solvePow(challenge))).body.next!;
        const before = challenge.pow!.t!;
        expect((before + picture.pow!.t!) / before).toBeGreaterThanOrEqual(levelPrices[2]);
        expect((before + picture.pow!.t!) / before).toBeLessThan(levelPrices[2] * 1.3);
      },
    ));

  test('is handed in with the answer', () =>
    expectRows([{}, { bigint: false }], async (capabilities) => {
      const picture = await askForUnpaidPicture(site, { capabilities });
      const work = await solvePow(picture);
      later(A_MOMENT_MS);
      const done = await handIn(picture.challenge, { selected: await rightTiles(picture), ...work });
      expect((await openToken(keyring, done.body.token ?? '', testNow()))?.level).toBe(2);
    }));

  test('makes a right answer a failed try where it is missing or wrong, and comes with the next picture again', () =>
    expectRows([{}, { y: 'AAAA' }, { counters: 'AAAA' }], async (work) => {
      const picture = await askForUnpaidPicture(site);
      later(A_MOMENT_MS);
      const { body } = await handIn(picture.challenge, { selected: await rightTiles(picture), ...work });
      expect(body).toMatchObject({
        verified: false,
        reason: 'CAPTCHA.INVALID_SOLUTION',
        next: { pow: { lane: 'rsw' } },
      });
    }));

  test('can be handed in alone, once, which brings the same picture without it', async () => {
    const picture = await askForUnpaidPicture(site);
    const work = await solvePow(picture);
    const { next, reason } = (await handIn(picture.challenge, work)).body;
    expect(reason).toBeUndefined();
    expect(next).toMatchObject({ jti: picture.jti, image: picture.image });
    expect(next!.pow).toBeUndefined();
    expect((await opened(next!)).params).not.toHaveProperty('t');
    // The two seals are of one round, which is answered once.
    later(A_MOMENT_MS);
    await handIn(next!.challenge, { selected: [] });
    const late = await handIn(picture.challenge, { selected: await rightTiles(picture), ...work });
    expect(late.body).toEqual({ verified: false, reason: 'CAPTCHA.INVALID_CAPTCHA_CHALLENGE' });
  });

  test('is done once, whatever follows', async () => {
    const picture = await askForUnpaidPicture(site);
    const wrong = await handIn(picture.challenge, { selected: [], ...(await solvePow(picture)) });
    expect(wrong.body.next!.image).toBeDefined();
    expect(wrong.body.next!.pow).toBeUndefined();
  });

  test('stays to be done after a change to sound', async () => {
    const picture = await askForUnpaidPicture(site);
    const changed = (await handIn(picture.challenge, { audio: true })).body.next!;
    expect(changed).toMatchObject({ audio: { digits: 5 }, pow: { lane: 'rsw' } });
    later(A_MOMENT_MS);
    const digits = (await audioLayout(keyring, await opened(changed))).join('');
    expect((await handIn(changed.challenge, { digits })).body.verified).toBe(false);
  });
});

describe('a change between pictures and sound', () => {
  let site: SiteRecord;
  beforeAll(async () => {
    site = await makeSite('premium', { captchaType: 'image', imageMinRounds: 1 });
  });

  test('needs no second proof of work, and happens once', async () => {
    const picture = await askForPicture(site);
    const changed = (await handIn(picture.challenge, { audio: true })).body;
    expect(changed).toMatchObject({ verified: false, next: { jti: picture.jti, audio: { digits: 5 } } });
    expect(changed.next!.image).toBeUndefined();
    expect((await handIn(changed.next!.challenge, { audio: false })).body).toMatchObject({ verified: false });
    const back = await askForPicture(site, { capabilities: { audio: true } });
    expect((await handIn(back.challenge, { audio: false })).body.next?.image).toBeDefined();
  });

  test('spends the picture', async () => {
    const picture = await askForPicture(site);
    await handIn(picture.challenge, { audio: true });
    later(A_MOMENT_MS);
    expect((await handIn(picture.challenge, { selected: await rightTiles(picture) })).body.verified).toBe(false);
  });
});

describe('an answer before a person can give one', () => {
  test('is a failed try, however right it is, and counts in the score', async () => {
    const site = await makeSite('premium', { captchaType: 'image', imageMinRounds: 1 });
    const first = await askForPicture(site);
    const soon = await handIn(first.challenge, { selected: await rightTiles(first) });
    expect(soon.body).toMatchObject({ verified: false, reason: 'CAPTCHA.INVALID_SOLUTION' });
    const next = soon.body.next!;
    later(A_MOMENT_MS);
    const done = await handIn(next.challenge, { selected: await rightTiles(next) });
    expect((await openToken(keyring, done.body.token ?? '', testNow()))?.facts.detectors).toContain('too-fast');
  });
});

describe('a puzzle task', () => {
  let site: SiteRecord;
  beforeAll(async () => {
    site = await makeSite('premium', { captchaType: 'puzzle', puzzleTolerance: 6 });
  });

  test('is solved within six pixels of the target', () =>
    expectRows(
      [
        [0, 0, true],
        [6, 0, true],
        [0, -6, true],
        [4, -4, true],
        [6, -6, false],
        [7, 0, false],
        [0, 7, false],
      ],
      async ([dx, dy, verified]) => {
        const challenge = await askForPicture(site);
        const { x, y } = await target(challenge);
        later(A_MOMENT_MS);
        const answer = await handIn(challenge.challenge, { finalX: x + dx, finalY: y + dy });
        expect(answer.body.verified).toBe(verified);
        if (!verified) expect(answer.body.next?.jti).toBe(challenge.jti);
      },
    ));

  test('is not solved by anything but a place', () =>
    expectRows(
      [{}, { finalX: '1', finalY: 2 }, { finalX: null, finalY: null }, { finalX: 1e12, finalY: 0 }, { path: 'x' }],
      async (solution) => {
        expect((await handIn((await askForPicture(site)).challenge, solution)).body.verified).toBe(false);
      },
    ));

  test('raises the score for a path that no hand draws', async () => {
    const challenge = await askForPicture(site);
    const { x, y } = await target(challenge);
    later(A_MOMENT_MS);
    const path = Array.from({ length: 20 }, (_, index) => [index * 5, index * 2, index * 16]);
    const answer = await handIn(challenge.challenge, { finalX: x, finalY: y, path });
    expect((await openToken(keyring, answer.body.token ?? '', testNow()))?.facts.detectors).toContain(
      'mechanical-path',
    );
  });
});
