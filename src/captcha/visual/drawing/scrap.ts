/**
 * Scraps of paper, straight-edged pieces that lie under the figures. They reach in from beyond the edge, so that people
 * take only the figure for a whole thing. Programs find as many edges on them as on the figure.
 */
import type { DrawRandom } from '../draw-random.ts';
import { type OutlinePath, subdivided } from './outline.ts';

/** Longest part of an edge: distances are measured in a box around each, so long parts at a slant cost much. */
const PART_PX = 12;

/** A torn wedge that ends somewhere inside. */
export function scrapPath(random: DrawRandom, width: number, height: number): OutlinePath {
  const size = Math.min(width, height);
  const from = random.next() * 2 * Math.PI;
  const angle = from + Math.PI + random.between(-0.6, 0.6);
  const half = size * random.between(0.08, 0.42);
  const tip = half * random.between(0.2, 1.1);
  const length = size * random.between(0.44, 0.94);
  const skew = size * 0.15;
  const beyond = size * 0.33;
  const startX = width / 2 + (width / 2 + beyond) * Math.cos(from);
  const startY = height / 2 + (height / 2 + beyond) * Math.sin(from);
  const [alongX, alongY] = [Math.cos(angle), Math.sin(angle)];
  const corners = [
    [-size * 0.4, half],
    [length + random.between(-skew, skew), tip],
    [length + random.between(-skew, skew), -tip],
    [-size * 0.4, -half],
  ] as const;
  return subdivided(
    corners.flatMap(([along, across]) => [
      startX + alongX * along - alongY * across,
      startY + alongY * along + alongX * across,
    ]),
    PART_PX,
  );
}
