/**
 * A closed path on the pixel grid as signed distances to its edge: positive inside, in pixels, exact near the edge. All
 * that a picture draws of a shape (where its texture changes, where its rim catches light) is a function of them.
 */
import type { Path } from './outline.ts';

/** Distances beyond are drawn alike. */
export const BAND_PX = 4;

export interface Region {
  left: number;
  top: number;
  width: number;
  height: number;
  /** −BAND_PX…BAND_PX, row by row. Beyond the spans all are outside. */
  distances: Float32Array<ArrayBuffer>;
  /** First column of each row that is inside or near, and the first after them. */
  spans: Int16Array<ArrayBuffer>;
}

/** The part of the path within `width` × `height` pixels. */
export function regionOf(path: Path, width: number, height: number): Region {
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
  const size = { width: Math.max(0, right - left), height: Math.max(0, bottom - top) };
  const spans = new Int16Array(2 * size.height);
  for (let row = 0; row < size.height; row++) spans[2 * row] = size.width;
  const distances = new Float32Array(size.width * size.height).fill(BAND_PX);
  const region = { left, top, ...size, distances, spans };
  measureEdges(region, path);
  negateOutside(region, path);
  return region;
}

function measureEdges(region: Region, path: Path): void {
  const { left, top, width, height, distances, spans } = region;
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
    for (let row = fromY; row <= toY; row++) {
      if (fromX < spans[2 * row]!) spans[2 * row] = fromX;
      if (toX >= spans[2 * row + 1]!) spans[2 * row + 1] = toX + 1;
      for (let column = fromX; column <= toX; column++) {
        const share = ((column - x) * dx + (row - y) * dy) / square;
        const along = share < 0 ? 0 : share > 1 ? 1 : share;
        const offX = column - x - along * dx;
        const offY = row - y - along * dy;
        const distance = Math.sqrt(offX * offX + offY * offY);
        const at = row * width + column;
        if (distance < distances[at]!) distances[at] = distance;
      }
    }
  }
}

/** Even-odd rule. Rows that are inside beyond the picture's edge get wider spans. */
function negateOutside(region: Region, path: Path): void {
  const { width, height, distances, spans } = region;
  const flips = flipsOf(region, path);
  for (let row = 0; row < height; row++) {
    let inside = 0;
    for (let column = spans[2 * row]!; column < spans[2 * row + 1]!; column++) {
      inside ^= flips[row * (width + 1) + column]!;
      if (inside === 0) distances[row * width + column]! *= -1;
    }
  }
}

/** 1 where a row goes in or out of the path. One column more than the region, for edges beyond it. */
function flipsOf({ left, top, width, height, spans }: Region, path: Path): Uint8Array {
  const flips = new Uint8Array((width + 1) * height);
  for (let index = 0; index < path.length; index += 2) {
    const [x, y] = [path[index]! - left, path[index + 1]! - top];
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
  return flips;
}
