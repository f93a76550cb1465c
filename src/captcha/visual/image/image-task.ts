/**
 * Draws "choose all pictures that show a …": nine tiles in one picture, each with its own ground, angle, size, shade and
 * clutter. Shapes are turned a little only, because people name them upright. Arrows are turned to any angle.
 */
import type { ImageTask, ShapeName } from '../../../contract/captcha/challenge-api.ts';
import type { DrawRandom } from '../draw-random.ts';
import { IMAGE_COLUMNS, IMAGE_TILES } from '../derive-answer.ts';
import type { ImageLayout } from '../derive-answer.ts';
import { FIGURE, Raster, RAMP, twoRamps } from '../raster.ts';
import { insideOf } from '../shapes.ts';

const TILE_PX = 96;
/** Thin bars in the shades of the ground. They break edges for programs, not for people. */
const CLUTTER = 4;

export function drawImageTask(layout: ImageLayout, random: DrawRandom, round: number, rounds: number): ImageTask {
  const rows = IMAGE_TILES / IMAGE_COLUMNS;
  const raster = new Raster(IMAGE_COLUMNS * TILE_PX, rows * TILE_PX);
  for (const [index, shape] of layout.tiles.entries()) {
    drawTile(raster, random, shape, (index % IMAGE_COLUMNS) * TILE_PX, Math.floor(index / IMAGE_COLUMNS) * TILE_PX);
  }
  return {
    shape: layout.shape,
    columns: IMAGE_COLUMNS,
    rows,
    round: round + 1,
    rounds,
    picture: raster.picture(twoRamps(random)),
  };
}

function drawTile(raster: Raster, random: DrawRandom, shape: ShapeName, left: number, top: number): void {
  const radius = TILE_PX * random.between(0.26, 0.36);
  const margin = radius * 1.1;
  const inFigure = insideOf({
    shape,
    centreX: random.between(margin, TILE_PX - margin),
    centreY: random.between(margin, TILE_PX - margin),
    radius,
    angle: shape === 'arrow' ? random.next() * Math.PI * 2 : random.between(-0.35, 0.35),
  });
  const clutter = Array.from({ length: CLUTTER }, () => clutterBar(random));
  const groundX = random.between(-0.05, 0.05);
  const groundY = random.between(-0.05, 0.05);
  const figureShade = random.between(1.5, RAMP - 2.5);
  for (let y = 0; y < TILE_PX; y++) {
    for (let x = 0; x < TILE_PX; x++) {
      const noise = random.bits();
      const grain = ((noise & 15) - 7.5) / 6;
      const figure = inFigure(x, y);
      let shade = figure ? figureShade : (RAMP - 1) / 2 + (x - TILE_PX / 2) * groundX + (y - TILE_PX / 2) * groundY;
      for (const bar of clutter) if (bar.inside(x, y)) shade += bar.shift;
      // One pixel in 64 is of the other ramp, so that no threshold separates figure and ground cleanly.
      const swapped = (noise >>> 8) % 64 === 0;
      const index = Math.min(RAMP - 1, Math.max(0, Math.round(shade + grain)));
      raster.pixels[(top + y) * raster.width + left + x] = index + (figure === swapped ? 0 : FIGURE);
    }
  }
}

function clutterBar(random: DrawRandom): { inside: (x: number, y: number) => boolean; shift: number } {
  const centreX = random.next() * TILE_PX;
  const centreY = random.next() * TILE_PX;
  const angle = random.next() * Math.PI;
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  const halfWidth = random.between(1, 3.5);
  return {
    inside: (x, y) => Math.abs((y - centreY) * cos - (x - centreX) * sin) < halfWidth,
    shift: random.next() < 0.5 ? -2.5 : 2.5,
  };
}
