/**
 * Joins still WebP pictures, as Chromium makes them, to one animation, without encoding them again. The container is
 * that of the WebP Container Specification (RFC 9649, section 2): `VP8X`, `ANIM`, and one `ANMF` for each picture.
 */
export interface Frame {
  webp: Uint8Array;
  /** How long it is shown. */
  ms: number;
}

const ANIMATION_FLAG = 0x02;
/** A frame replaces the whole picture and is not blended with the last one. */
const NO_BLENDING = 0x02;

export function animatedWebp(frames: readonly Frame[], size: { width: number; height: number }): Buffer {
  const canvas = Buffer.alloc(10);
  canvas.writeUInt8(ANIMATION_FLAG, 0);
  canvas.writeUIntLE(size.width - 1, 4, 3);
  canvas.writeUIntLE(size.height - 1, 7, 3);
  // Background colour, then how often it plays: 0 is without end.
  const animation = Buffer.alloc(6);
  const parts = frames.map(({ webp, ms }) => {
    const head = Buffer.alloc(16);
    head.writeUIntLE(size.width - 1, 6, 3);
    head.writeUIntLE(size.height - 1, 9, 3);
    head.writeUIntLE(ms, 12, 3);
    head.writeUInt8(NO_BLENDING, 15);
    return chunk('ANMF', Buffer.concat([head, pictureOf(webp)]));
  });
  const body = Buffer.concat([Buffer.from('WEBP'), chunk('VP8X', canvas), chunk('ANIM', animation), ...parts]);
  const file = Buffer.alloc(8);
  file.write('RIFF');
  file.writeUInt32LE(body.length, 4);
  return Buffer.concat([file, body]);
}

function chunk(name: string, data: Uint8Array): Buffer {
  const head = Buffer.alloc(8);
  head.write(name);
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)]);
}

/** The chunks with the picture itself: `VP8 ` or `VP8L`, and `ALPH` before the former. */
function pictureOf(webp: Uint8Array): Buffer {
  const bytes = Buffer.from(webp);
  if (bytes.toString('latin1', 0, 4) !== 'RIFF' || bytes.toString('latin1', 8, 12) !== 'WEBP')
    throw new Error('This is no WebP picture');
  const kept: Buffer[] = [];
  for (let at = 12; at + 8 <= bytes.length;) {
    const name = bytes.toString('latin1', at, at + 4);
    const end = at + 8 + bytes.readUInt32LE(at + 4);
    if (name === 'VP8 ' || name === 'VP8L' || name === 'ALPH') kept.push(chunk(name, bytes.subarray(at + 8, end)));
    at = end + ((end - at) % 2);
  }
  if (kept.length === 0) throw new Error('This WebP picture is empty or animated already');
  return Buffer.concat(kept);
}
