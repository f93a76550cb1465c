/**
 * Which shapes stand beside the right one: half of them are relatives, which programs that compare edges mistake for it
 * and people do not.
 */
import { type ShapeName, shapeNames } from '../../contract/captcha/challenge-api.ts';

const relatives: Record<ShapeName, readonly ShapeName[]> = {
  circle: ['square', 'heart', 'triangle'],
  triangle: ['square', 'heart', 'arrow'],
  square: ['circle', 'triangle', 'heart'],
  star: ['cross', 'arrow', 'moon'],
  heart: ['circle', 'square', 'triangle'],
  moon: ['arrow', 'cross', 'heart'],
  cross: ['star', 'arrow', 'moon'],
  arrow: ['cross', 'star', 'moon'],
};

/** Another shape than `shape`. `byte`: 0–255, random. */
export function anotherShape(shape: ShapeName, byte: number): ShapeName {
  const others = byte % 2 === 0 ? relatives[shape] : shapeNames.filter((name) => name !== shape);
  return others[(byte >> 1) % others.length]!;
}
