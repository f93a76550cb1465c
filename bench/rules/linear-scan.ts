/** How peers match ranges: they try one after the other, with addresses as big integers. */
import { parseCidr, parseIp } from '../../src/address/ip.ts';
import type { EdgeRule } from '../../src/rules/types.ts';

const bigintOf = (words: readonly number[]): bigint => words.reduce((sum, word) => (sum << 32n) | BigInt(word), 0n);

/** @returns a matcher of address rules that returns the length of the longest prefix, or -1. */
export function linearScan(rules: readonly EdgeRule[]): (address: bigint, family: 4 | 6) => number {
  const ranges = rules.flatMap(({ type, value }) => {
    const width = value.includes(':') ? 128 : 32;
    const parsed = type === 'ip' ? parseIp(value) : parseCidr(value);
    if (!parsed) return [];
    const length = 'prefixLength' in parsed ? Number(parsed.prefixLength) : width;
    return [
      {
        family: parsed.family,
        bits: bigintOf(parsed.words) >> BigInt(width - length),
        host: BigInt(width - length),
        length,
      },
    ];
  });
  return (address, family) => {
    let longest = -1;
    for (const range of ranges) {
      if (range.family === family && range.length > longest && address >> range.host === range.bits)
        longest = range.length;
    }
    return longest;
  };
}
