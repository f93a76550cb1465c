/**
 * Puts an outline somewhere in a picture: turned, sized, seen at a slant and bent, so that no template fits it.
 */
import type { DrawRandom } from '../draw-random.ts';
import type { OutlinePath } from './outline.ts';

export interface Placement {
  centreX: number;
  centreY: number;
  /** Half the side of the outline's unit square, pixels. */
  radius: number;
  /** Radians. */
  angle: number;
  /** 0 is rigid, 1 is as bent as people still recognise. */
  bend: number;
}

export function placed(path: OutlinePath, at: Placement, random: DrawRandom): OutlinePath {
  const { bend } = at;
  const tilt = random.next() * Math.PI;
  const squeeze = 1 - bend * random.between(0, 0.3);
  const [tiltCos, tiltSin] = [Math.cos(tilt), Math.sin(tilt)];
  const [cos, sin] = [Math.cos(at.angle), Math.sin(at.angle)];
  const nearX = bend * random.between(-0.16, 0.16);
  const nearY = bend * random.between(-0.16, 0.16);
  const waves = Array.from({ length: 2 }, () => {
    const direction = random.next() * 2 * Math.PI;
    const pace = random.between(1.6, 3);
    const size = (bend * random.between(0.2, 0.42)) / pace;
    const across = random.next() * 2 * Math.PI;
    return {
      x: Math.cos(direction) * pace,
      y: Math.sin(direction) * pace,
      toX: Math.cos(across) * size,
      toY: Math.sin(across) * size,
      phase: random.next() * 2 * Math.PI,
    };
  });
  const out = new Float32Array(path.length);
  for (let index = 0; index < path.length; index += 2) {
    let x = path[index]! * cos - path[index + 1]! * sin;
    let y = path[index]! * sin + path[index + 1]! * cos;
    for (const wave of waves) {
      const shift = Math.sin(x * wave.x + y * wave.y + wave.phase);
      x += wave.toX * shift;
      y += wave.toY * shift;
    }
    // A slant shortens one direction; the nearer side is larger.
    const along = (x * tiltCos + y * tiltSin) * squeeze;
    const across = y * tiltCos - x * tiltSin;
    const depth = 1 + nearX * along + nearY * across;
    out[index] = at.centreX + (at.radius * (along * tiltCos - across * tiltSin)) / depth;
    out[index + 1] = at.centreY + (at.radius * (along * tiltSin + across * tiltCos)) / depth;
  }
  return out;
}
