/**
 * Lines of text as bytes: the JSON of a batch's rows, in compressed blocks. The Worker packs them, so that a shard
 * receives and stores about a seventh of the text and opens only the blocks that it reads. Snappy, because it is
 * synchronous: a shard reads and erases lines within one transaction.
 *
 * For each block its number of lines, its length and its length compressed (LEB128), then the blocks. Equal lengths
 * mean that it is not compressed. Lines contain no line feed: they are JSON.
 */
import { snappyUncompress } from 'hyparquet';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import { NumberReader, NumberWriter } from './packed-numbers.ts';

/** About 60 kB, which is also as far back as Snappy finds repetitions. */
const LINES_PER_BLOCK = 64;
/** Far above a block of the longest lines; a damaged length reserves no more memory than this. */
const BLOCK_MAX_BYTES = 8_000_000;
const LINE_FEED = 0x0a;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

interface Block {
  first: number;
  lines: number;
  /** Uncompressed. */
  bytes: number;
  data: Uint8Array;
}

interface OpenBlock {
  block: Block;
  text: Uint8Array;
  /** Where each line starts. */
  starts: number[];
}

export function packLines(lines: readonly string[]): Uint8Array<ArrayBuffer> {
  const blocks: Block[] = [];
  for (let first = 0; first < lines.length; first += LINES_PER_BLOCK) {
    blocks.push(blockOf(lines.slice(first, first + LINES_PER_BLOCK), first));
  }
  return joined(blocks);
}

function blockOf(lines: readonly string[], first: number): Block {
  const bytes = encoder.encode(lines.join('\n'));
  const packed = snappyCompress(bytes);
  return { first, lines: lines.length, bytes: bytes.length, data: packed.length < bytes.length ? packed : bytes };
}

function joined(blocks: readonly Block[]): Uint8Array<ArrayBuffer> {
  const writer = new NumberWriter();
  writer.write(blocks.length);
  for (const { lines, bytes, data } of blocks) for (const number of [lines, bytes, data.length]) writer.write(number);
  for (const { data } of blocks) writer.append(data);
  return writer.bytes();
}

export class PackedLines {
  readonly length: number;
  readonly #blocks: Block[] = [];
  #opened: OpenBlock | null = null;

  constructor(packed: ArrayBuffer) {
    const data = new Uint8Array(packed);
    const reader = new NumberReader(data);
    const sizes = Array.from({ length: reader.next() }, () => [reader.next(), reader.next(), reader.next()] as const);
    let first = 0;
    let start = reader.at;
    for (const [lines, bytes, length] of sizes) {
      this.#blocks.push({ first, lines, bytes, data: data.subarray(start, start + length) });
      first += lines;
      start += length;
    }
    this.length = first;
  }

  /** Cheapest in rising order: the block that was read last stays open. */
  at(line: number): string {
    const block = this.#blocks.find(({ first, lines }) => line < first + lines);
    if (block === undefined) throw new RangeError(`There is no line ${line} of ${this.length}`);
    const { text, starts } = this.#open(block);
    const offset = line - block.first;
    return decoder.decode(text.subarray(starts[offset], (starts[offset + 1] ?? text.length + 1) - 1));
  }

  /** Packed again without these lines. Blocks that hold none of them stay as they are. */
  without(gone: ReadonlySet<number>): Uint8Array<ArrayBuffer> {
    const kept = this.#blocks.flatMap((block) => {
      const numbers = Array.from({ length: block.lines }, (_, at) => block.first + at);
      const rest = numbers.filter((line) => !gone.has(line));
      if (rest.length === numbers.length) return block;
      return rest.length === 0
        ? []
        : blockOf(
            rest.map((line) => this.at(line)),
            block.first,
          );
    });
    return joined(kept);
  }

  all(): string[] {
    return Array.from({ length: this.length }, (_, line) => this.at(line));
  }

  #open(block: Block): OpenBlock {
    if (this.#opened?.block === block) return this.#opened;
    const text = uncompressed(block);
    const starts = [0];
    while (starts.length < block.lines) starts.push(text.indexOf(LINE_FEED, starts.at(-1)) + 1);
    this.#opened = { block, text, starts };
    return this.#opened;
  }
}

function uncompressed({ bytes, data }: Block): Uint8Array {
  if (data.length === bytes) return data;
  if (bytes > BLOCK_MAX_BYTES) throw new RangeError(`A block of ${bytes} bytes`);
  const text = new Uint8Array(bytes);
  snappyUncompress(data, text);
  return text;
}
