/**
 * What a program reads from a tile without seeing a shape: how light, how rough, how well it compresses. None of it tells
 * what the tile shows. The seeds are fixed, so the figures are the same in every run.
 */
import { deflateRawSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { decodeBase64url } from '../../../src/bytes/base64url.ts';
import { drawRandom } from '../../../src/captcha/visual/draw-random.ts';
import { drawImageTask } from '../../../src/captcha/visual/image/image-task.ts';
import { type ShapeName, shapeNames } from '../../../src/contract/captcha/challenge-api.ts';

const TILE_PX = 104;
const ROUNDS = 32;

function seeded(number: number): ReturnType<typeof drawRandom> {
  const seed = new Uint8Array(16);
  new DataView(seed.buffer).setUint32(0, number);
  return drawRandom(seed);
}

interface Tile {
  shape: ShapeName;
  statistics: number[];
}

function tiles(): Tile[] {
  return Array.from({ length: ROUNDS }, (_, round) => {
    const random = seeded(round);
    const shown = Array.from({ length: 9 }, () => shapeNames[random.bits() % shapeNames.length]!);
    const { picture } = drawImageTask({ shape: 'star', tiles: shown }, random, 0, 2);
    const light = decodeBase64url(picture.light)!;
    return shown.map((shape, index) => {
      const start = Math.floor(index / 3) * TILE_PX * picture.width + (index % 3) * TILE_PX;
      const rows = Array.from({ length: TILE_PX }, (_row, y) =>
        light.subarray(start + y * picture.width, start + y * picture.width + TILE_PX),
      );
      return { shape, statistics: statisticsOf(rows) };
    });
  }).flat();
}

function statisticsOf(rows: readonly Uint8Array[]): number[] {
  const values = rows.flatMap((row) => [...row]);
  const mean = average(values);
  const steps = rows.flatMap((row) => [...row.subarray(1)].map((value, x) => Math.abs(value - row[x]!)));
  const middle = rows.slice(36, 68).flatMap((row) => [...row.subarray(36, 68)]);
  const middleMean = average(middle);
  return [
    mean,
    average(values.map((value) => (value - mean) ** 2)),
    average(values.map((value) => Math.abs(value - mean) ** 3)),
    average(steps),
    average(steps.map((step) => step * step)),
    steps.filter((step) => step > 60).length,
    new Set(values).size,
    values.filter((value) => value <= 8).length,
    values.filter((value) => value >= 244).length,
    middleMean - mean,
    average(middle.map((value) => (value - middleMean) ** 2)),
    deflateRawSync(Uint8Array.from(values)).length,
  ];
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Names each tile of the second half by the shape whose tiles of the first half are most like it on average. */
function namedRightly(all: readonly Tile[]): number {
  const [known, asked] = [all.slice(0, all.length / 2), all.slice(all.length / 2)];
  const scales = known[0]!.statistics.map((_, part) => {
    const values = known.map(({ statistics }) => statistics[part]!);
    const mean = average(values);
    return Math.sqrt(average(values.map((value) => (value - mean) ** 2))) || 1;
  });
  const usual = shapeNames.map((shape) => {
    const those = known.filter((tile) => tile.shape === shape);
    return scales.map((_, part) => average(those.map(({ statistics }) => statistics[part]!)));
  });
  const named = asked.map(({ statistics }) => {
    const distances = usual.map((centre) =>
      Math.hypot(...centre.map((value, part) => (value - statistics[part]!) / scales[part]!)),
    );
    return shapeNames[distances.indexOf(Math.min(...distances))];
  });
  return asked.filter(({ shape }, index) => named[index] === shape).length / asked.length;
}

test('light, roughness and compressed size of a tile do not tell its shape', () => {
  // Chance is one in eight, with a deviation of 3 % for 144 tiles. Palettes and plain figures would give nearly all.
  const share = namedRightly(tiles());
  expect(share).toBeLessThan(0.25);
});
