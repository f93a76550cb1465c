/** Whole numbers below 2^53 in as few bytes as they need (LEB128), and rising lists of them as differences. */

export class NumberWriter {
  #bytes = new Uint8Array(1024);
  length = 0;

  write(value: number): void {
    this.#reserve(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.length++] = rest;
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.length);
  }

  #reserve(bytes: number): void {
    if (this.length + bytes <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + bytes));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

export class NumberReader {
  readonly #data: Uint8Array;
  at: number;

  constructor(data: Uint8Array, at = 0) {
    this.#data = data;
    this.at = at;
  }

  next(): number {
    let byte = this.#data[this.at++] as number;
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    let scale = 0x80;
    for (;;) {
      byte = this.#data[this.at++] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
  }
}

export function packRising(numbers: readonly number[]): Uint8Array {
  const writer = new NumberWriter();
  let previous = 0;
  for (const number of numbers) {
    writer.write(number - previous);
    previous = number;
  }
  return writer.bytes();
}

export function unpackRising(data: Uint8Array): number[] {
  const reader = new NumberReader(data);
  const numbers: number[] = [];
  let number = 0;
  while (reader.at < data.length) {
    number += reader.next();
    numbers.push(number);
  }
  return numbers;
}
