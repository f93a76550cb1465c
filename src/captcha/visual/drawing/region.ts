/**
 * A closed path on the pixel grid as signed distances to its edge: positive inside, in pixels, exact near the edge. All
 * that a picture draws of a shape (where its texture changes, where its rim catches light) is a function of them.
 */
import type { OutlinePath } from './outline.ts';

/** Distances beyond are drawn alike. */
export const BAND_PX = 4;
/** Square of a distance that nothing has shortened. */
const FAR = BAND_PX * BAND_PX;

interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Region extends Box {
  /** −BAND_PX…BAND_PX, row by row, within the spans. */
  distances: Float32Array<ArrayBuffer>;
  /** First column of each row that is inside or near, and the first after them. Beyond the spans all are outside. */
  spans: Int16Array<ArrayBuffer>;
}

/**
 * Measures paths within `width` × `height` pixels, always in the same memory: a picture has a hundred regions, and to
 * clear the memory of one takes longer than to measure it.
 */
export class RegionMeasure {
  readonly #width: number;
  readonly #height: number;
  readonly #distances: Float32Array<ArrayBuffer>;
  /** `FAR` and 0 between two regions. */
  readonly #squares: Float64Array<ArrayBuffer>;
  readonly #flips: Uint8Array<ArrayBuffer>;

  constructor(width: number, height: number) {
    this.#width = width;
    this.#height = height;
    this.#distances = new Float32Array(width * height);
    this.#squares = new Float64Array(width * height).fill(FAR);
    this.#flips = new Uint8Array((width + 1) * height);
  }

  /** It holds until the next call. */
  regionOf(path: OutlinePath): Region {
    const box = boxAround(path, this.#width, this.#height);
    const spans = emptySpans(box);
    const [distances, squares, flips] = [this.#distances, this.#squares, this.#flips];
    lowerSquares(squares, box, spans, path);
    setFlips(flips, box, spans, path);
    for (let row = 0; row < box.height; row++) {
      let inside = 0;
      const end = row * box.width + spans[2 * row + 1]!;
      for (let at = row * box.width + spans[2 * row]!; at < end; at++) {
        inside ^= flips[at + row]!;
        flips[at + row] = 0;
        const distance = Math.sqrt(squares[at]!);
        squares[at] = FAR;
        distances[at] = inside === 0 ? -distance : distance;
      }
      flips[end + row] = 0;
    }
    return { ...box, distances, spans };
  }
}

function boxAround(path: OutlinePath, width: number, height: number): Box {
  let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let index = 0; index < path.length; index += 2) {
    minX = Math.min(minX, path[index]!);
    maxX = Math.max(maxX, path[index]!);
    minY = Math.min(minY, path[index + 1]!);
    maxY = Math.max(maxY, path[index + 1]!);
  }
  const left = Math.max(0, Math.floor(minX - BAND_PX));
  const top = Math.max(0, Math.floor(minY - BAND_PX));
  const right = Math.min(width, Math.ceil(maxX + BAND_PX) + 1);
  const bottom = Math.min(height, Math.ceil(maxY + BAND_PX) + 1);
  return { left, top, width: Math.max(0, right - left), height: Math.max(0, bottom - top) };
}

function emptySpans({ width, height }: Box): Int16Array<ArrayBuffer> {
  const spans = new Int16Array(2 * height);
  for (let row = 0; row < height; row++) spans[2 * row] = width;
  return spans;
}

/** Squares order as distances do, and save a root for each edge. Widens the spans to the band. */
function lowerSquares(
  squares: Float64Array,
  { left, top, width, height }: Box,
  spans: Int16Array,
  path: OutlinePath,
): void {
  for (let index = 0; index < path.length; index += 2) {
    const x = path[index]! - left;
    const y = path[index + 1]! - top;
    const dx = path[(index + 2) % path.length]! - left - x;
    const dy = path[(index + 3) % path.length]! - top - y;
    const square = dx * dx + dy * dy || 1;
    const fromX = Math.max(0, Math.ceil(Math.min(x, x + dx) - BAND_PX));
    const toX = Math.min(width - 1, Math.floor(Math.max(x, x + dx) + BAND_PX));
    const fromY = Math.max(0, Math.ceil(Math.min(y, y + dy) - BAND_PX));
    const toY = Math.min(height - 1, Math.floor(Math.max(y, y + dy) + BAND_PX));
    if (fromX > toX) continue;
    // Of the box around a slanted edge, only the strip along its line is near.
    const slope = dy === 0 ? 0 : dx / dy;
    const reach = dy === 0 ? Infinity : (BAND_PX * Math.sqrt(square)) / Math.abs(dy);
    for (let row = fromY; row <= toY; row++) {
      const middle = x + (row - y) * slope;
      const first = Math.max(fromX, Math.ceil(middle - reach));
      const last = Math.min(toX, Math.floor(middle + reach));
      if (first > last) continue;
      if (first < spans[2 * row]!) spans[2 * row] = first;
      if (last >= spans[2 * row + 1]!) spans[2 * row + 1] = last + 1;
      for (let column = first; column <= last; column++) {
        const share = ((column - x) * dx + (row - y) * dy) / square;
        const along = share < 0 ? 0 : share > 1 ? 1 : share;
        const offX = column - x - along * dx;
        const offY = row - y - along * dy;
        const off = offX * offX + offY * offY;
        const at = row * width + column;
        if (off < squares[at]!) squares[at] = off;
      }
    }
  }
}

/**
 * 1 where a row goes in or out of the path, by the even-odd rule. One column more than the box, for edges beyond it. Rows
 * that are inside beyond the picture's edge get wider spans.
 */
function setFlips(flips: Uint8Array, { left, top, width, height }: Box, spans: Int16Array, path: OutlinePath): void {
  for (let index = 0; index < path.length; index += 2) {
    const x = path[index]! - left;
    const y = path[index + 1]! - top;
    const toX = path[(index + 2) % path.length]! - left;
    const toY = path[(index + 3) % path.length]! - top;
    const lastRow = Math.min(height, Math.ceil(Math.max(y, toY)));
    for (let row = Math.max(0, Math.ceil(Math.min(y, toY))); row < lastRow; row++) {
      const column = Math.min(width, Math.max(0, Math.ceil(x + ((row - y) / (toY - y)) * (toX - x))));
      flips[row * (width + 1) + column]! ^= 1;
      if (column < spans[2 * row]!) spans[2 * row] = column;
      if (column > spans[2 * row + 1]!) spans[2 * row + 1] = column;
    }
  }
}
