/** The walk of the README: one WebP animation of a minute, of still pictures. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { animatedWebp } from '../../scripts/walk/animated-webp.ts';

/** Names and contents of the chunks of a RIFF file. */
function chunks(bytes: Buffer): [name: string, data: Buffer][] {
  expect([bytes.toString('latin1', 0, 4), bytes.readUInt32LE(4)]).toEqual(['RIFF', bytes.length - 8]);
  const found: [string, Buffer][] = [];
  for (let at = 12; at < bytes.length;) {
    const size = bytes.readUInt32LE(at + 4);
    found.push([bytes.toString('latin1', at, at + 4), bytes.subarray(at + 8, at + 8 + size)]);
    at += 8 + size + (size % 2);
  }
  return found;
}

test('the walk is an animation of 60 seconds below 3 MB', () => {
  const file = readFileSync('docs/walk.webp');
  expect(file.length).toBeLessThan(3_000_000);
  const found = chunks(file);
  expect(found.slice(0, 2).map(([name]) => name)).toEqual(['VP8X', 'ANIM']);
  const frames = found.filter(([name]) => name === 'ANMF');
  expect(frames.reduce((sum, [, data]) => sum + data.readUIntLE(12, 3), 0)).toBe(60_000);
});

test('each frame has the picture that it was made of, byte for byte, and its time', () => {
  const picture = Buffer.from('odd picture');
  const still = Buffer.concat([
    Buffer.from('RIFF\x18\0\0\0WEBPVP8 ', 'latin1'),
    Buffer.from([picture.length, 0, 0, 0]),
    picture,
    Buffer.alloc(1),
  ]);
  const found = chunks(animatedWebp([{ webp: still, ms: 1500 }], { width: 2, height: 3 }));
  const [name, data] = found[2]!;
  expect([name, data.readUIntLE(6, 3), data.readUIntLE(9, 3), data.readUIntLE(12, 3)]).toEqual(['ANMF', 1, 2, 1500]);
  expect(data.subarray(24, 24 + picture.length)).toEqual(picture);
});

test('a file that is no still picture is refused', () => {
  const none = { width: 1, height: 1 };
  expect(() => animatedWebp([{ webp: Buffer.from('GIF89a'), ms: 1 }], none)).toThrow('no WebP picture');
  expect(() => animatedWebp([{ webp: Buffer.from('RIFF\0\0\0\0WEBP'), ms: 1 }], none)).toThrow('empty or animated');
});
