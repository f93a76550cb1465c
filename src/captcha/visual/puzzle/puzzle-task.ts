/**
 * Draws "move the circle onto the same shape": a board of scraps with several openings alike in all but their outline, a
 * tray below it, and a round piece that shows one of the outlines. Piece and opening have papers, light and bends of
 * their own, so that neither the content nor the edge of one is found again in the other.
 */
import type { PuzzleTask, ShapeName } from '../../../contract/captcha/challenge-api.ts';
import { puzzleLook, type PuzzleLook } from '../../../contract/management/site-settings.ts';
import { Canvas } from '../drawing/canvas.ts';
import { Collage, type CutDepth } from '../drawing/collage.ts';
import { outlineOf, type OutlinePath } from '../drawing/outline.ts';
import { figureTone, Paper } from '../drawing/paper.ts';
import { placed } from '../drawing/placement.ts';
import { scrapPath } from '../drawing/scrap.ts';
import type { DrawRandom } from '../draw-random.ts';
import { anotherShape } from '../derive-answer.ts';

export const BOARD_WIDTH = 320;
export const BOARD_HEIGHT = 220;
/** Where the piece waits, below the board. */
export const TRAY_HEIGHT = 92;
/** Side of the square that the round piece fills, whatever the size of the outline on it. */
export const PIECE_PX = 84;
const SCRAPS_ON_BOARD = 8;
const SCRAPS_ON_PIECE = 4;
/** A visitor with a high score sees more decoys. */
const MORE_DECOYS_PER_LEVEL = 2;
/** Of the outline, in shares of the height of the board: people see no smaller ones, and larger ones find no room. */
const SCALE = { min: 0.22, max: 0.27 } as const;
export const PUZZLE_BEND = 0.35;
/** Of the outline on the piece, in shares of its side: larger than the opening, so that no edge of one fits the other. */
const ON_PIECE = [0.35, 0.4] as const;
/** Radians that the opening is turned away from the piece at most. People see the same shape. */
const TURN = 0.8;

/** The look of a site without one of its own. */
export const DEFAULT_LOOK: PuzzleLook = puzzleLook.parse({});

/** Top left corner of the piece where it fits, in pixels. `x` and `y` are the fractions of the layout. */
export function puzzleTarget(layout: { x: number; y: number }): { x: number; y: number } {
  return {
    x: Math.round(layout.x * (BOARD_WIDTH - PIECE_PX)),
    y: Math.round(layout.y * (BOARD_HEIGHT - PIECE_PX)),
  };
}

export function drawPuzzleTask(
  layout: { x: number; y: number; shape: ShapeName },
  random: DrawRandom,
  look: PuzzleLook,
  hardness: number,
): PuzzleTask {
  const target = puzzleTarget(layout);
  const right = { x: target.x + PIECE_PX / 2, y: target.y + PIECE_PX / 2 };
  const openings = openingsIn(BOARD_WIDTH, BOARD_HEIGHT, PIECE_PX / 2, {
    right,
    decoys: look.decoyCount + hardness * MORE_DECOYS_PER_LEVEL,
    radius: (BOARD_HEIGHT * scaleOf(look, random)) / 2,
    random,
  });
  const angle = random.next() * 2 * Math.PI;
  const background = new Canvas(BOARD_WIDTH, BOARD_HEIGHT + TRAY_HEIGHT);
  drawBoard(background, random, look, openings.radius, [
    { ...right, outline: outlineOf(layout.shape, random), angle: angle + random.between(-TURN, TURN) },
    ...openings.decoys.map((place) => ({
      ...place,
      outline: outlineOf(anotherShape(layout.shape, random.bits() & 255), random),
      angle: random.next() * 2 * Math.PI,
    })),
  ]);
  drawTray(background, random);
  return {
    background: background.picture(),
    piece: drawPiece(random, outlineOf(layout.shape, random), angle).picture(),
    originX: (BOARD_WIDTH - PIECE_PX) / 2,
    originY: BOARD_HEIGHT + (TRAY_HEIGHT - PIECE_PX) / 2,
  };
}

/** In random order, so that neither overlaps nor papers tell which opening came first. */
function drawBoard(
  canvas: Canvas,
  random: DrawRandom,
  look: PuzzleLook,
  radius: number,
  openings: readonly (BoardPlace & { outline: OutlinePath; angle: number })[],
): void {
  const board = new Collage(random, BOARD_WIDTH, BOARD_HEIGHT);
  for (let index = 0; index < SCRAPS_ON_BOARD; index++) board.glueScrap(scrapPath(random, BOARD_WIDTH, BOARD_HEIGHT));
  const order = openings.map((opening) => ({ opening, key: random.next() })).toSorted((a, b) => a.key - b.key);
  for (const { opening } of order) {
    const { x: centreX, y: centreY, outline, angle } = opening;
    board.cutFigure(
      placed(outline, { centreX, centreY, radius, angle, bend: PUZZLE_BEND }, random),
      depthOf(look, random),
    );
  }
  board.paint(canvas, 0, 0);
}

/** Plain, so that the piece stands out. */
function drawTray(canvas: Canvas, random: DrawRandom): void {
  const paper = new Paper(random, figureTone(random));
  canvas.fillBelow(BOARD_HEIGHT, paper.tone, paper);
}

function drawPiece(random: DrawRandom, outline: OutlinePath, angle: number): Canvas {
  const collage = new Collage(random, PIECE_PX, PIECE_PX);
  for (let index = 0; index < SCRAPS_ON_PIECE; index++) collage.glueScrap(scrapPath(random, PIECE_PX, PIECE_PX));
  const centre = { centreX: PIECE_PX / 2, centreY: PIECE_PX / 2, radius: PIECE_PX * random.between(...ON_PIECE) };
  collage.glueFigure(placed(outline, { ...centre, angle, bend: PUZZLE_BEND }, random));
  const piece = new Canvas(PIECE_PX, PIECE_PX);
  collage.paint(piece, 0, 0);
  piece.keepDisc(PIECE_PX / 2);
  return piece;
}

/**
 * How deep an opening looks. The right one draws its numbers from the same ranges as every decoy: a difference between
 * them would be the answer.
 */
function depthOf(look: PuzzleLook, random: DrawRandom): CutDepth {
  const darken = random.between(
    Math.min(look.holeDarken, look.decoyHoleDarken),
    Math.max(look.holeDarken, look.decoyHoleDarken),
  );
  return {
    rim: 2 * (1 - darken) + look.decoyEdgeDarkness / 40,
    tone: random.between(-1, 1) * look.decoyBodyBrightness,
  };
}

function scaleOf({ pieceScale }: PuzzleLook, random: DrawRandom): number {
  return random.between(drawableScale(pieceScale.min), drawableScale(pieceScale.max));
}

function drawableScale(scale: number): number {
  return Math.min(SCALE.max, Math.max(SCALE.min, scale));
}

/**
 * Where a puzzle's openings are. The layout places the right one; the others are scattered around it over the same part
 * of the board, so that its place tells nothing.
 */
export interface BoardPlace {
  x: number;
  y: number;
}

export interface Openings {
  decoys: BoardPlace[];
  /** Half the side of their outlines' square, pixels: less, the more openings there are. */
  radius: number;
}

/** More openings find no room. */
const OPENINGS_MAX = 14;
/** Share of the board that openings cover at most. Random places rarely reach 0.5. */
const DENSITY = 0.42;
/** Between two openings. */
const GAP_PX = 4;
const TRIES = 300;

/** `margin`: from the edge of the board to the nearest centre. */
function openingsIn(
  width: number,
  height: number,
  margin: number,
  wanted: { right: BoardPlace; decoys: number; radius: number; random: DrawRandom },
): Openings {
  const { right, random } = wanted;
  const count = Math.min(OPENINGS_MAX, 1 + wanted.decoys);
  const roomFor = (area: number): number => Math.sqrt((DENSITY * area) / (Math.PI * count)) - GAP_PX / 2;
  const radius = Math.min(wanted.radius, roomFor((width - margin) * (height - margin)));
  const places = [right];
  for (let apart = 2 * radius + GAP_PX; places.length < count; apart *= 0.95) {
    for (let tries = 0; tries < TRIES && places.length < count; tries++) {
      const place = { x: random.between(margin, width - margin), y: random.between(margin, height - margin) };
      if (places.every(({ x, y }) => Math.hypot(x - place.x, y - place.y) >= apart)) places.push(place);
    }
  }
  return { decoys: places.slice(1), radius };
}
