/** Splits a range of addresses into the fewest networks that cover exactly it. */
import type { IpAddress, IpPrefix } from '../address/ip.ts';

const WORD_BITS = 32n;
const WORD_MASK = 0xffff_ffffn;

/** `null` when the addresses are of two families, or the first is after the last. At most 254 networks. */
export function networksOfRange(first: IpAddress, last: IpAddress): IpPrefix[] | null {
  if (first.family !== last.family) return null;
  const width = first.family === 4 ? 32 : 128;
  const networks: IpPrefix[] = [];
  let from = numberOf(first);
  const to = numberOf(last);
  if (from > to) return null;
  while (from <= to) {
    // The largest network that begins here and does not end behind the range.
    const aligned = from === 0n ? width : bitsOf(from & -from) - 1;
    const host = Math.min(aligned, bitsOf(to - from + 1n) - 1);
    networks.push({ family: first.family, words: wordsOf(from, width), prefixLength: width - host });
    from += 1n << BigInt(host);
  }
  return networks;
}

/** How many binary digits a number has, above 0. */
function bitsOf(value: bigint): number {
  const digits = value.toString(16);
  return 4 * digits.length - Math.clz32(Number.parseInt(digits[0] as string, 16)) + 28;
}

function numberOf({ words }: IpAddress): bigint {
  return words.reduce((sum, word) => (sum << WORD_BITS) | BigInt(word), 0n);
}

function wordsOf(value: bigint, width: number): number[] {
  const words: number[] = [];
  for (let shift = BigInt(width) - WORD_BITS; shift >= 0n; shift -= WORD_BITS) {
    words.push(Number((value >> shift) & WORD_MASK));
  }
  return words;
}
