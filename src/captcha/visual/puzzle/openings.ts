/**
 * Where a puzzle's openings are. The layout places the right one; the others are scattered around it over the same part
 * of the board, so that its place tells nothing.
 */
import type { DrawRandom } from '../draw-random.ts';

export interface Place {
  x: number;
  y: number;
}

export interface Openings {
  decoys: Place[];
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
export function openingsIn(
  width: number,
  height: number,
  margin: number,
  wanted: { right: Place; decoys: number; radius: number; random: DrawRandom },
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
