/**
 * Draws "move the piece to where it fits": a ground of soft waves and grain, one hole with the outline of the piece, and
 * decoy holes with other outlines. The piece carries the missing ground with grain of its own. Every picture has the
 * same number of bytes.
 */
import { shapeNames } from '../../../contract/captcha/challenge-api.ts';
import type { PuzzleTask, ShapeName } from '../../../contract/captcha/challenge-api.ts';
import { puzzleLook } from '../../../contract/management/site-settings.ts';
import type { PuzzleLook } from '../../../contract/management/site-settings.ts';
import type { DrawRandom } from '../draw-random.ts';
import { oneRamp, Raster } from '../raster.ts';
import { insideOf } from '../shapes.ts';

export const PUZZLE_WIDTH = 320;
export const PUZZLE_HEIGHT = 220;
/** Canvas of the piece, whatever the size of the piece: 0.45 of the height, and even. */
export const PIECE_PX = 100;
/** The piece starts in the left column, where the hole never is. */
const REST_PX = 20;
const SHADES = 16;
const RIM_PX = 2;
/** A visitor with a high score sees more decoys. */
const MORE_DECOYS_PER_LEVEL = 2;
/** Settings use steps of 0–255; a shade is 17 of them. */
const STEPS_PER_SHADE = 255 / (SHADES - 1);

/** The look of a site without one of its own. */
export const DEFAULT_LOOK: PuzzleLook = puzzleLook.parse({});

/** Top left corner of the piece where it fits, in pixels. `x` and `y` are the fractions of the layout. */
export function puzzleTarget(layout: { x: number; y: number }): { x: number; y: number } {
  const left = REST_PX + PIECE_PX / 2;
  return {
    x: Math.round(left + layout.x * (PUZZLE_WIDTH - PIECE_PX - left)),
    y: Math.round(layout.y * (PUZZLE_HEIGHT - PIECE_PX)),
  };
}

export function drawPuzzleTask(
  layout: { x: number; y: number; shape: ShapeName },
  random: DrawRandom,
  look: PuzzleLook,
  hardness: number,
): PuzzleTask {
  const target = puzzleTarget(layout);
  const radius = (PUZZLE_HEIGHT * random.between(look.pieceScale.min, Math.min(look.pieceScale.max, 0.45))) / 2;
  const ground = waves(random);
  const inPiece = insideOf({ shape: layout.shape, centreX: PIECE_PX / 2, centreY: PIECE_PX / 2, radius, angle: 0 });
  const shades = new Float32Array(PUZZLE_WIDTH * PUZZLE_HEIGHT);
  for (let y = 0; y < PUZZLE_HEIGHT; y++) {
    for (let x = 0; x < PUZZLE_WIDTH; x++) shades[y * PUZZLE_WIDTH + x] = ground(x, y);
  }
  const decoys = look.decoyCount + hardness * MORE_DECOYS_PER_LEVEL;
  for (let index = 0; index < decoys; index++) drawDecoy(shades, random, layout.shape, radius, look);
  const background = new Raster(PUZZLE_WIDTH, PUZZLE_HEIGHT);
  const piece = new Raster(PIECE_PX, PIECE_PX);
  for (let y = 0; y < PIECE_PX; y++) {
    for (let x = 0; x < PIECE_PX; x++) {
      if (!inPiece(x, y)) continue;
      // Index 0 is transparent, so the darkest shade of the piece is 1.
      piece.pixels[y * PIECE_PX + x] = Math.max(1, grained(ground(target.x + x, target.y + y), random));
      const at = (target.y + y) * PUZZLE_WIDTH + target.x + x;
      shades[at] = shades[at]! * look.holeDarken;
    }
  }
  for (let at = 0; at < shades.length; at++) background.pixels[at] = grained(shades[at]!, random);
  const palette = oneRamp(random);
  return {
    background: background.picture(palette),
    piece: piece.picture(palette),
    originX: 0,
    originY: Math.round(random.next() * (PUZZLE_HEIGHT - PIECE_PX)),
  };
}

/** Three crossing waves of random direction and length, 3–13 of the 16 shades. */
function waves(random: DrawRandom): (x: number, y: number) => number {
  const parts = Array.from({ length: 3 }, () => {
    const phase = random.next() * Math.PI * 2;
    return { byX: angles(random.between(-0.09, 0.09), phase), byY: angles(random.between(-0.09, 0.09), 0) };
  });
  return (x, y) => {
    let sum = 0;
    // sin(a + b) from tables, with a by column and b by row.
    for (const { byX, byY } of parts) sum += byX.sin[x]! * byY.cos[y]! + byX.cos[x]! * byY.sin[y]!;
    return 8.5 + 1.6 * sum;
  };
}

function angles(step: number, phase: number): { sin: Float32Array; cos: Float32Array } {
  const each = Array.from({ length: Math.max(PUZZLE_WIDTH, PUZZLE_HEIGHT) }, (_, index) => index * step + phase);
  return { sin: Float32Array.from(each, Math.sin), cos: Float32Array.from(each, Math.cos) };
}

/** A hole with another outline and a dark rim, at a random place. */
function drawDecoy(shades: Float32Array, random: DrawRandom, not: ShapeName, radius: number, look: PuzzleLook): void {
  const others = shapeNames.filter((name) => name !== not);
  const size = radius * random.between(0.8, 1.1);
  const centreX = random.between(radius, PUZZLE_WIDTH - radius);
  const centreY = random.between(radius, PUZZLE_HEIGHT - radius);
  const place = {
    shape: others[Math.floor(random.next() * others.length)]!,
    centreX,
    centreY,
    angle: random.next() * Math.PI * 2,
  };
  const inHole = insideOf({ ...place, radius: size });
  const inRim = insideOf({ ...place, radius: size + RIM_PX });
  // A turned square reaches √2 times its radius.
  const reach = Math.ceil((size + RIM_PX) * Math.SQRT2);
  const right = Math.min(PUZZLE_WIDTH - 1, Math.round(centreX) + reach);
  const bottom = Math.min(PUZZLE_HEIGHT - 1, Math.round(centreY) + reach);
  for (let y = Math.max(0, Math.round(centreY) - reach); y <= bottom; y++) {
    for (let x = Math.max(0, Math.round(centreX) - reach); x <= right; x++) {
      if (!inRim(x, y)) continue;
      const at = y * PUZZLE_WIDTH + x;
      shades[at] = inHole(x, y)
        ? shades[at]! * look.decoyHoleDarken + look.decoyBodyBrightness / STEPS_PER_SHADE
        : shades[at]! - look.decoyEdgeDarkness / STEPS_PER_SHADE;
    }
  }
}

function grained(shade: number, random: DrawRandom): number {
  return Math.min(SHADES - 1, Math.max(0, Math.round(shade + ((random.bits() & 15) - 7.5) / 7)));
}
