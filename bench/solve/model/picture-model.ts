/**
 * A trained model against pictures and puzzles. One network says for each window whether a circle, a triangle, … lies in
 * its middle. It learns from tiles, pieces and openings that it draws itself, with the product's own code.
 */
import { decodeBase64url } from '../../../src/bytes/base64url.ts';
import type { DrawRandom } from '../../../src/captcha/visual/draw-random.ts';
import { drawImageTask } from '../../../src/captcha/visual/image/image-task.ts';
import {
  BOARD_HEIGHT,
  BOARD_WIDTH,
  DEFAULT_LOOK,
  drawPuzzleTask,
  PIECE_PX,
  puzzleTarget,
} from '../../../src/captcha/visual/puzzle/puzzle-task.ts';
import {
  COLOUR_STEP_PX,
  type Picture,
  shapeNames,
  type ShapeName,
} from '../../../src/contract/captcha/challenge-api.ts';
import type { Attack } from '../attack.ts';
import { type Batch, type LayerShape, likelihood, Network, UNKNOWN } from './network.ts';
import { rateAt, type OnLoss } from './training.ts';

/** Pixels of a window. A figure fills four fifths of it. */
const WINDOW = 34;
/** Pixels of a picture for each pixel of a window, so that figures are of one size everywhere. */
const TILE_SCALE = 3;
const PIECE_SCALE = 2.3;
const BOARD_SCALE = 2;
/** Light, and the two colours. */
const INPUTS = 3;
const SHAPES = shapeNames.length;
const LAYERS: readonly LayerShape[] = [
  { channels: 16, kernel: [5, 5], stride: [2, 2] },
  { channels: 24, kernel: [3, 3], stride: [1, 1] },
  { channels: 32, kernel: [3, 3], stride: [2, 2] },
  { channels: 48, kernel: [3, 3], stride: [1, 1] },
  { channels: 96, kernel: [4, 4], stride: [1, 1] },
  { channels: SHAPES, kernel: [1, 1], stride: [1, 1] },
];
/** The strides of the layers make the network look at every fourth pixel of its input: so many pixels of the board. */
const STEP_PX = 4 * BOARD_SCALE;

/** Drawn for each step of training. */
const IMAGES = 1;
const PUZZLES = 6;
/** Windows of a board without its opening in the middle. */
const BESIDE = 4;
/** How far from the middle of a window the opening may be, and from where on it is not in the middle. */
const NEAR_PX = 7;
const FAR_PX = 24;
/** How often a shape is on a tile where the network learns. */
const USUAL = 1 / SHAPES;

interface Window {
  picture: Picture;
  /** The middle, in pixels of the picture. */
  x: number;
  y: number;
  scale: number;
  labels: readonly number[];
}

export function newPictureNetwork(random: DrawRandom): Network {
  return new Network(INPUTS, LAYERS, random);
}

export function trainPictureNetwork(network: Network, random: DrawRandom, steps: number, onLoss: OnLoss): void {
  for (let step = 0; step < steps; step++) {
    const windows = [
      ...Array.from({ length: IMAGES }, () => tilesToLearn(random)),
      ...Array.from({ length: PUZZLES }, () => puzzleToLearn(random)),
    ].flat();
    const batch = emptyBatch(windows.length, WINDOW, WINDOW);
    const labels = new Float32Array(SHAPES * windows.length);
    for (const [index, { picture, x, y, scale, labels: known }] of windows.entries()) {
      const middle = (WINDOW * scale) / 2;
      look(picture, x - middle, y - middle, scale, batch, index);
      for (const [shape, label] of known.entries()) labels[shape * windows.length + index] = label;
    }
    onLoss(network.learn(batch, () => labels, rateAt(step / steps)));
  }
}

function tilesToLearn(random: DrawRandom): Window[] {
  const tiles = Array.from({ length: 9 }, () => anyShape(random));
  const { picture, columns } = drawImageTask({ shape: tiles[0]!, tiles }, random, 0, 1);
  const side = picture.width / columns;
  return tiles.map((shape, index) => ({
    picture,
    x: ((index % columns) + 0.5) * side,
    y: (Math.floor(index / columns) + 0.5) * side,
    scale: TILE_SCALE,
    labels: onlyShape(shape),
  }));
}

function puzzleToLearn(random: DrawRandom): Window[] {
  const layout = { x: random.next(), y: random.next(), shape: anyShape(random) };
  const { background, piece } = drawPuzzleTask(layout, random, DEFAULT_LOOK, 0);
  const target = puzzleTarget(layout);
  const [x, y] = [target.x + PIECE_PX / 2, target.y + PIECE_PX / 2];
  const onBoard = { picture: background, scale: BOARD_SCALE };
  const beside = Array.from({ length: BESIDE }, () => ({
    x: random.between(PIECE_PX / 2, BOARD_WIDTH - PIECE_PX / 2),
    y: random.between(PIECE_PX / 2, BOARD_HEIGHT - PIECE_PX / 2),
  })).filter((place) => Math.hypot(place.x - x, place.y - y) > FAR_PX);
  const near = (): number => random.between(-NEAR_PX, NEAR_PX);
  // No other opening has the shape. What else is there is not known.
  const notHere = shapeNames.map((name) => (name === layout.shape ? 0 : UNKNOWN));
  return [
    { picture: piece, x: PIECE_PX / 2, y: PIECE_PX / 2, scale: PIECE_SCALE, labels: onlyShape(layout.shape) },
    { ...onBoard, x: x + near(), y: y + near(), labels: onlyShape(layout.shape) },
    ...beside.map((place) => ({ ...onBoard, ...place, labels: notHere })),
  ];
}

function anyShape(random: DrawRandom): ShapeName {
  return shapeNames[random.bits() % SHAPES]!;
}

function onlyShape(shape: ShapeName): number[] {
  return shapeNames.map((name) => (name === shape ? 1 : 0));
}

export function pictureAttacks(network: Network): { image: Attack<'image'>; puzzle: Attack<'puzzle'> } {
  return {
    image: {
      name: 'trained network',
      solve({ shape, columns, rows, picture }) {
        const side = picture.width / columns;
        const batch = emptyBatch(columns * rows, WINDOW, WINDOW);
        const inset = (side - WINDOW * TILE_SCALE) / 2;
        for (let tile = 0; tile < batch.count; tile++) {
          const [left, top] = [(tile % columns) * side, Math.floor(tile / columns) * side];
          look(picture, left + inset, top + inset, TILE_SCALE, batch, tile);
        }
        const logits = network.run(batch).values;
        const row = shapeNames.indexOf(shape) * batch.count;
        const tiles = Array.from({ length: batch.count }, (_, tile) => tile);
        return { selected: tiles.filter((tile) => likelihood(logits[row + tile]!) > USUAL) };
      },
    },
    puzzle: {
      name: 'trained network',
      solve({ background, piece, originY }) {
        const shapes = shapesOn(network, piece);
        const height = Math.min(originY, background.height);
        const board = emptyBatch(1, Math.floor(height / BOARD_SCALE), Math.floor(background.width / BOARD_SCALE));
        look(background, 0, 0, BOARD_SCALE, board, 0);
        const found = network.run(board);
        const places = found.width * found.height;
        const scores = Float32Array.from({ length: places }, (_, place) =>
          shapes.reduce((sum, share, shape) => sum + share * likelihood(found.values[shape * places + place]!), 0),
        );
        const { x, y } = peak(scores, found.width, found.height);
        const first = (WINDOW * BOARD_SCALE) / 2;
        return {
          finalX: first + x * STEP_PX - piece.width / 2,
          finalY: first + y * STEP_PX - piece.height / 2,
        };
      },
    },
  };
}

/** How likely each shape is the one on the piece. */
function shapesOn(network: Network, piece: Picture): number[] {
  const batch = emptyBatch(1, WINDOW, WINDOW);
  const inset = (piece.width - WINDOW * PIECE_SCALE) / 2;
  look(piece, inset, inset, PIECE_SCALE, batch, 0);
  const likelihoods = Array.from(network.run(batch).values, likelihood);
  const sum = likelihoods.reduce((total, one) => total + one, 0);
  return likelihoods.map((one) => one / sum);
}

/** The middle of the highest hill: the place with the most around it. */
function peak(scores: Float32Array, width: number, height: number): { x: number; y: number } {
  let best = { sum: -1, x: 0, y: 0 };
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const hill = { sum: 0, x: 0, y: 0 };
      for (let line = Math.max(0, y - 1); line <= Math.min(height - 1, y + 1); line++) {
        for (let column = Math.max(0, x - 1); column <= Math.min(width - 1, x + 1); column++) {
          const score = scores[line * width + column]!;
          hill.sum += score;
          hill.x += score * column;
          hill.y += score * line;
        }
      }
      if (hill.sum > best.sum) best = { sum: hill.sum, x: hill.x / hill.sum, y: hill.y / hill.sum };
    }
  }
  return best;
}

function emptyBatch(count: number, height: number, width: number): Batch {
  return { channels: INPUTS, count, height, width, values: new Float32Array(INPUTS * count * height * width) };
}

/** Writes the part of a picture that begins at `left`, `top`, as sample `index`. Each value is the mean of four points. */
function look(picture: Picture, left: number, top: number, scale: number, into: Batch, index: number): void {
  const { light, colour } = planesOf(picture);
  const columns = Math.ceil(picture.width / COLOUR_STEP_PX);
  const red = colour.length / 2;
  const size = into.width * into.height;
  const plane = into.count * size;
  let at = index * size;
  for (let line = 0; line < into.height; line++) {
    for (let column = 0; column < into.width; column++, at++) {
      for (const down of [0.25, 0.75]) {
        for (const right of [0.25, 0.75]) {
          const x = within(left + (column + right) * scale, picture.width);
          const y = within(top + (line + down) * scale, picture.height);
          const hue = Math.floor(y / COLOUR_STEP_PX) * columns + Math.floor(x / COLOUR_STEP_PX);
          into.values[at]! += (light[y * picture.width + x]! - 128) / 256;
          into.values[at + plane]! += (colour[hue]! - 128) / 128;
          into.values[at + 2 * plane]! += (colour[red + hue]! - 128) / 128;
        }
      }
    }
  }
}

function within(place: number, size: number): number {
  return Math.max(0, Math.min(size - 1, Math.floor(place)));
}

const decoded = new WeakMap<Picture, { light: Uint8Array; colour: Uint8Array }>();

function planesOf(picture: Picture): { light: Uint8Array; colour: Uint8Array } {
  const known = decoded.get(picture);
  if (known !== undefined) return known;
  const planes = { light: decodeBase64url(picture.light)!, colour: decodeBase64url(picture.colour)! };
  decoded.set(picture, planes);
  return planes;
}
