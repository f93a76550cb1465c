/**
 * Scraps and strips of paper, straight-edged pieces that lie under and over the figures. They reach in from beyond the
 * edge, so that people take only the figure for a whole thing. Programs find as many edges on them as on the figure.
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

/** A band across the whole picture, `distance` from its centre. */
export function stripPath(width: number, height: number, angle: number, distance: number, half: number): OutlinePath {
  const [normalX, normalY] = [Math.cos(angle), Math.sin(angle)];
  const reach = width + height;
  const [centreX, centreY] = [width / 2 + distance * normalX, height / 2 + distance * normalY];
  const corner = (along: number, across: number): number[] => [
    centreX - normalY * along + normalX * across,
    centreY + normalX * along + normalY * across,
  ];
  return subdivided(
    [corner(reach, half), corner(-reach, half), corner(-reach, -half), corner(reach, -half)].flat(),
    PART_PX,
  );
}
