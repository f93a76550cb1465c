/**
 * Draws "choose all pictures that show a …": nine collages in one picture, each with its own light, papers and scraps.
 * The figure lies on top, turned, bent a little and seen at a slant.
 */
import type { ImageTask, ShapeName } from '../../../contract/captcha/challenge-api.ts';
import { Canvas } from '../drawing/canvas.ts';
import { Collage } from '../drawing/collage.ts';
import { outlineOf } from '../drawing/outline.ts';
import { placed } from '../drawing/placement.ts';
import { scrapPath } from '../drawing/scrap.ts';
import type { DrawRandom } from '../draw-random.ts';
import { IMAGE_COLUMNS, IMAGE_TILES, type ImageLayout } from '../derive-answer.ts';

/** What a tile measures on the screen. */
const TILE_PX = 104;
const SCRAPS = 4;
/** Of the figure, in shares of the tile. */
const RADIUS = [0.38, 0.43] as const;
/** More bent, a square is taken for a circle. */
export const IMAGE_BEND = 0.35;

export function drawImageTask(layout: ImageLayout, random: DrawRandom, round: number, rounds: number): ImageTask {
  const rows = IMAGE_TILES / IMAGE_COLUMNS;
  const canvas = new Canvas(IMAGE_COLUMNS * TILE_PX, rows * TILE_PX);
  for (const [index, shape] of layout.tiles.entries()) {
    const [column, row] = [index % IMAGE_COLUMNS, Math.floor(index / IMAGE_COLUMNS)];
    tileWith(shape, random).paint(canvas, column * TILE_PX, row * TILE_PX);
  }
  return { shape: layout.shape, columns: IMAGE_COLUMNS, rows, round: round + 1, rounds, picture: canvas.picture() };
}

function tileWith(shape: ShapeName, random: DrawRandom): Collage {
  const collage = new Collage(random, TILE_PX, TILE_PX);
  for (let index = 0; index < SCRAPS; index++) collage.glueScrap(scrapPath(random, TILE_PX, TILE_PX));
  const radius = TILE_PX * random.between(...RADIUS);
  const play = Math.max(2, TILE_PX / 2 - radius - 6);
  const at = {
    centreX: TILE_PX / 2 + random.between(-play, play),
    centreY: TILE_PX / 2 + random.between(-play, play),
    radius,
    angle: random.next() * 2 * Math.PI,
    bend: IMAGE_BEND,
  };
  collage.glueFigure(placed(outlineOf(shape, random), at, random));
  return collage;
}
