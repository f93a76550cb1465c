/** Pictures and recordings: they differ, have the same size, and are judged by the derived answer. */
import { describe, expect, test } from 'vitest';
import { drawAudioTask } from '../../../src/captcha/visual/audio/audio-task.ts';
import { decodeBase64url } from '../../../src/bytes/base64url.ts';
import { drawImageTask } from '../../../src/captcha/visual/image/image-task.ts';
import {
  answeredTooSoon,
  judgeVisual,
  otherForm,
  unjudgedStep,
  visualStep,
} from '../../../src/captcha/visual/judge-visual.ts';
import { drawRandom, type DrawRandom } from '../../../src/captcha/visual/draw-random.ts';
import {
  IMAGE_TILES,
  audioLayout,
  imageLayout,
  lookSeed,
  puzzleLayout,
  type LayoutOf,
} from '../../../src/captcha/visual/derive-answer.ts';
import {
  BOARD_HEIGHT,
  BOARD_WIDTH,
  DEFAULT_LOOK,
  PIECE_PX,
  drawPuzzleTask,
  puzzleTarget,
} from '../../../src/captcha/visual/puzzle/puzzle-task.ts';
import type { SealedChallenge } from '../../../src/captcha/seal/sealed-challenge.ts';
import { newJti } from '../../../src/captcha/seal/sealed-course.ts';
import { outlineOf } from '../../../src/captcha/visual/drawing/outline.ts';
import { placed } from '../../../src/captcha/visual/drawing/placement.ts';
import { RegionMeasure } from '../../../src/captcha/visual/drawing/region.ts';
import {
  COLOUR_STEP_PX,
  audioTask,
  imageTask,
  puzzleTask,
  shapeNames,
} from '../../../src/contract/captcha/challenge-api.ts';
import { NOON, challenge, keyringOf } from './sealing-fixtures.ts';
import { expectRows } from '../../support/rows.ts';

const keyring = keyringOf('ours');
const of = (round = 0): LayoutOf => ({ jti: newJti(), round, bornAt: NOON });
const look = (): DrawRandom => drawRandom(crypto.getRandomValues(new Uint8Array(32)));
const visual = (over: Partial<SealedChallenge>): SealedChallenge => ({
  ...challenge,
  kind: 'image',
  lane: 'visual',
  ...over,
});

describe('a layout', () => {
  test('is the same for the same jti and round, and different for any other', async () => {
    const one = of();
    expect(await imageLayout(keyring, one)).toEqual(await imageLayout(keyring, one));
    const seen = new Set<string>();
    for (let round = 0; round < 100; round++) {
      seen.add(JSON.stringify(await imageLayout(keyring, { ...one, round })));
    }
    expect(seen.size).toBeGreaterThan(98);
    expect(await imageLayout(keyringOf('theirs'), one)).not.toEqual(await imageLayout(keyring, one));
  });

  test('shows the shape three to six times, in any place', async () => {
    const positions = Array.from({ length: IMAGE_TILES }, () => 0);
    for (let index = 0; index < 600; index++) {
      const { shape, tiles } = await imageLayout(keyring, of());
      const matches = tiles.flatMap((tile, at) => (tile === shape ? [at] : []));
      expect(matches.length).toBeGreaterThanOrEqual(3);
      expect(matches.length).toBeLessThanOrEqual(6);
      for (const at of matches) positions[at] = (positions[at] ?? 0) + 1;
    }
    // 600 · 4.5 / 9 = 300 each.
    expect(Math.min(...positions)).toBeGreaterThan(230);
    expect(Math.max(...positions)).toBeLessThan(370);
  });

  test('places the right opening anywhere on the board, where the whole piece has room', async () => {
    const places = await Promise.all(
      Array.from({ length: 300 }, async () => puzzleTarget(await puzzleLayout(keyring, of()))),
    );
    for (const { x, y } of places) {
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + PIECE_PX).toBeLessThanOrEqual(BOARD_WIDTH);
      expect(y).toBeGreaterThanOrEqual(0);
      expect(y + PIECE_PX).toBeLessThanOrEqual(BOARD_HEIGHT);
    }
    for (const axis of ['x', 'y'] as const) {
      const values = places.map((place) => place[axis]);
      expect(Math.max(...values) - Math.min(...values)).toBeGreaterThan(120);
    }
  });
});

describe('a drawing', () => {
  test('of one round is the same to the last bit, and no other round looks like it', async () => {
    const one = of();
    const drawn = async (round: LayoutOf): Promise<string[]> => [
      drawAudioTask([1, 2, 3], drawRandom(await lookSeed(keyring, round))).samples,
      drawImageTask(await imageLayout(keyring, one), drawRandom(await lookSeed(keyring, round)), 0, 2).picture.light,
    ];
    const [sound, picture] = await drawn(one);
    expect(await drawn({ ...one })).toEqual([sound, picture]);
    const next = await drawn({ ...one, round: 1 });
    expect(next).not.toContain(sound);
    expect(next).not.toContain(picture);
  });

  test('of the same layout never repeats and always has the same size', async () => {
    const layout = await imageLayout(keyring, of());
    const drawn = Array.from({ length: 20 }, () => drawImageTask(layout, look(), 0, 2).picture);
    expect(new Set(drawn.map((picture) => picture.light)).size).toBe(20);
    expect(new Set(drawn.map(({ light, colour }) => `${light.length} ${colour.length}`)).size).toBe(1);
  });

  test('fits the response schema', async () => {
    const image = drawImageTask(await imageLayout(keyring, of()), look(), 0, 2);
    const puzzle = drawPuzzleTask(await puzzleLayout(keyring, of()), look(), DEFAULT_LOOK, 4);
    const audio = drawAudioTask(await audioLayout(keyring, of()), look());
    expect(imageTask.safeParse(image).success).toBe(true);
    expect(puzzleTask.safeParse(puzzle).success).toBe(true);
    expect(audioTask.safeParse(audio).success).toBe(true);
    const { width, height, light, colour } = image.picture;
    expect(decodeBase64url(light)).toHaveLength(width * height);
    expect(decodeBase64url(colour)).toHaveLength((2 * width * height) / COLOUR_STEP_PX ** 2);
  });

  test('of a piece has the same size as any other and is transparent around it', async () => {
    const pieces = await Promise.all(
      Array.from(
        { length: 8 },
        async () => drawPuzzleTask(await puzzleLayout(keyring, of()), look(), DEFAULT_LOOK, 0).piece,
      ),
    );
    expect(new Set(pieces.map((piece) => piece.light.length)).size).toBe(1);
    // The same round piece whatever the outline on it.
    const transparent = pieces.map(({ light }) =>
      decodeBase64url(light)!
        .map((value) => (value === 0 ? 1 : 0))
        .join(''),
    );
    expect(new Set(transparent).size).toBe(1);
    expect(transparent[0]!.startsWith('1')).toBe(true);
  });

  test('does not reveal the answer: the text is the same for every picture', async () => {
    const { shape } = await imageLayout(keyring, of());
    const tasks = [];
    while (tasks.length < 5) {
      const layout = await imageLayout(keyring, of());
      if (layout.shape === shape) tasks.push(drawImageTask(layout, look(), 0, 2));
    }
    const words = tasks.map(({ picture, ...rest }) =>
      JSON.stringify({ ...rest, width: picture.width, height: picture.height }),
    );
    expect(new Set(words).size).toBe(1);
  });

  test('of sound lasts as long whatever it says, and uses the whole range of a byte', () => {
    for (let digit = 0; digit < 10; digit++) {
      const samples = decodeBase64url(drawAudioTask(Array(5).fill(digit), look()).samples)!;
      expect(samples).toHaveLength(6 * 16_000);
      expect(samples.reduce((most, sample) => Math.max(most, Math.abs(sample - 128)), 0)).toBe(120);
    }
  });

  test('of every shape covers something and not everything, however it is bent', () => {
    const random = look();
    for (const shape of [...shapeNames, ...shapeNames, ...shapeNames]) {
      const at = { centreX: 50, centreY: 50, radius: 40, angle: random.next() * 7, bend: 1 };
      const { distances } = new RegionMeasure(100, 100).regionOf(placed(outlineOf(shape, random), at, random));
      const covered = distances.filter((distance) => distance > 0).length;
      expect(covered, shape).toBeGreaterThan(500);
      expect(covered, shape).toBeLessThan(8500);
    }
  });
});

describe('judging', () => {
  test('counts every tile that was judged rightly', async () => {
    const one = visual({});
    const { shape, tiles } = await imageLayout(keyring, one);
    const right = tiles.flatMap((tile, index) => (tile === shape ? [index] : []));
    expect(await judgeVisual(keyring, one, { selected: right })).toMatchObject({ right: 9, judged: 9 });
    expect(await judgeVisual(keyring, one, { selected: right.slice(1) })).toMatchObject({ right: 8, judged: 9 });
  });

  test('counts nothing where most of the shapes or most of the other tiles are wrong', async () => {
    // Choosing nothing is right about most tiles, so by count alone a bot that never looks would pass.
    const rounds = Array.from({ length: 60 }, (_, round) => visual({ round }));
    for (const one of rounds) {
      const { shape, tiles } = await imageLayout(keyring, one);
      const all = tiles.map((_, index) => index);
      const right = all.filter((index) => tiles[index] === shape);
      const others = all.filter((index) => tiles[index] !== shape);
      const judged = async (selected: number[]): Promise<number> =>
        (await judgeVisual(keyring, one, { selected })).right;
      expect(await judged([])).toBe(0);
      expect(await judged(all)).toBe(0);
      const half = Math.ceil(right.length / 2);
      expect(await judged(right.slice(0, half))).toBe(9 - right.length + half);
      expect(await judged(right.slice(0, half - 1))).toBe(0);
      const few = Math.floor(others.length / 2);
      expect(await judged([...right, ...others.slice(0, few)])).toBe(9 - few);
    }
  });

  test('counts nothing right for a malformed solution', () =>
    expectRows(
      [
        [{}],
        [{ selected: 'all' }],
        [{ selected: [0, 0, 1] }],
        [{ selected: [9] }],
        [{ selected: [-1] }],
        [{ selected: [0.5] }],
        [{ selected: ['0'] }],
        [{ selected: [Number.NaN] }],
        [{ selected: Array.from({ length: 10_000 }, () => 1) }],
      ],
      async ([solution]) => {
        expect(await judgeVisual(keyring, visual({}), solution)).toMatchObject({ right: 0, judged: 9 });
      },
    ));

  test('accepts the right digits with any spacing, and no other digits', async () => {
    const one = visual({ lane: 'audio' });
    const digits = (await audioLayout(keyring, one)).join('');
    expect((await judgeVisual(keyring, one, { digits: digits.split('').join(' - ') })).right).toBe(1);
    for (const wrong of [`${digits}1`, '', digits.slice(1), Number(digits), [digits], null]) {
      expect((await judgeVisual(keyring, one, { digits: wrong })).right).toBe(0);
    }
  });
});

describe('a challenge of several rounds', () => {
  const all = { right: 9, judged: 9, mechanical: false };
  const none = { right: 0, judged: 9, mechanical: false };
  const start = (params: SealedChallenge['params'], round = 0): SealedChallenge =>
    visual({ params: { rounds: 2, uncounted: 0, threshold: 0.8, ...params }, round });

  test('passes at the threshold over all rounds and fails below it', () => {
    expect(visualStep(start({}), all, 32)).toMatchObject({
      step: 'next',
      failed: false,
      params: { judged: 9, right: 9 },
    });
    const last = (right: number): string => visualStep(start({ judged: 9, right: 9 }, 1), { ...all, right }, 32).step;
    expect(last(6)).toBe('passed');
    expect(last(5)).toBe('next');
  });

  test('shows the rounds that do not count first and judges none of them', () => {
    expect(visualStep(start({ uncounted: 1 }), none, 32)).toMatchObject({
      step: 'next',
      params: { judged: 0, right: 0 },
    });
    expect(visualStep(start({ uncounted: 1, judged: 9, right: 9 }, 2), all, 32)).toEqual({ step: 'passed' });
  });

  test('allows one more try at a puzzle, because chance rarely hits the place', () => {
    const puzzle = (failures: number): SealedChallenge => visual({ kind: 'puzzle', params: { failures } });
    const missed = { right: 0, judged: 1, mechanical: false };
    expect(visualStep(puzzle(0), missed, 32)).toMatchObject({ step: 'next', failed: true, params: { failures: 1 } });
    expect(visualStep(puzzle(1), missed, 32)).toEqual({ step: 'failed' });
  });

  test('allows two more tries at most, and never more rounds than imageMaxRounds', () => {
    expect(visualStep(start({ judged: 9, right: 0 }, 1), none, 32)).toMatchObject({
      step: 'next',
      failed: true,
      params: { judged: 0, right: 0, failures: 1, startedAtRound: 2 },
    });
    expect(visualStep(start({ judged: 9, right: 0, failures: 2 }, 1), none, 32)).toEqual({ step: 'failed' });
    expect(visualStep(start({ judged: 9, right: 0 }, 1), none, 2)).toEqual({ step: 'failed' });
  });

  test('goes on as sound or as a picture once, with the tries that are left', () => {
    const asked = start({ judged: 9, right: 9, failures: 1 }, 1);
    expect(otherForm(asked, true, 32)).toEqual({
      step: 'next',
      lane: 'audio',
      failed: false,
      params: { ...asked.params, judged: 0, right: 0, startedAtRound: 2, switched: true },
    });
    expect(otherForm(asked, false, 32)).toEqual({ step: 'failed' });
    expect(otherForm({ ...asked, lane: 'audio' }, false, 32)).toMatchObject({ step: 'next', lane: 'visual' });
    expect(otherForm(start({ switched: true }), true, 32)).toEqual({ step: 'failed' });
    expect(otherForm(start({}, 1), true, 2)).toEqual({ step: 'failed' });
  });

  test('loses a try to an answer that comes too soon, in any round', () => {
    expect(unjudgedStep(start({ judged: 9, right: 9 }, 1), 32)).toMatchObject({
      step: 'next',
      failed: true,
      params: { judged: 0, right: 0, failures: 1, startedAtRound: 2 },
    });
    expect(unjudgedStep(start({ failures: 2 }), 32)).toEqual({ step: 'failed' });
  });
});

test.each([
  ['an image', { kind: 'image', lane: 'visual' }, 1500],
  ['a puzzle', { kind: 'puzzle', lane: 'visual' }, 1000],
  ['a recording', { kind: 'puzzle', lane: 'audio' }, 4500],
] as const)('no person answers %s earlier than the least time', (_, task, leastMs) => {
  const shown = { ...task, issuedAt: NOON };
  expect(answeredTooSoon(shown, NOON + leastMs - 1)).toBe(true);
  expect(answeredTooSoon(shown, NOON + leastMs)).toBe(false);
});
