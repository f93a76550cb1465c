/** A position in the bytes of a Parquet file, and the numbers that are read from there. Reading past the end throws. */

/** The bytes are not what a segment of the log has there: cut off, damaged or written by something else. */
export class UnreadableSegmentError extends Error {}

export class ByteCursor {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte(): number {
    const value = this.bytes[this.at++];
    if (value === undefined) throw new UnreadableSegmentError('The segment ends too early');
    return value;
  }

  /** Unsigned, seven bits a byte, low bits first. */
  varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }

  zigzag(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  take(length: number): Uint8Array {
    const end = this.at + length;
    if (!(length >= 0 && end <= this.bytes.length)) throw new UnreadableSegmentError('The segment ends too early');
    const taken = this.bytes.subarray(this.at, end);
    this.at = end;
    return taken;
  }
}
