/**
 * Networks to look up, and addresses to look them up with: made from a seed with the prefix lengths of the public BGP
 * tables, or read from a file. Each network has one of three verdicts, so that an answer shows which prefix was found.
 */
import {
  formatCidr,
  formatIp,
  type IpAddress,
  type IpPrefix,
  mask32,
  parseCidr,
  parseIp,
  prefixOf,
} from '../../src/address/ip.ts';
import type { EdgeRule } from '../../src/rules/types.ts';
import { randomWords } from '../rules/workload.ts';

/** Every peer reports its answer as the verdict's number, and 0 for an address that no network contains. */
const verdicts = { 1: 'allow', 2: 'challenge', 3: 'block' } as const;

export interface Network {
  prefix: IpPrefix;
  /** The canonical text, with a length. */
  text: string;
  answer: keyof typeof verdicts;
}

/** `length:share`: of a thousand prefixes, so many have this length. Lengths rarer than one in a thousand are left out. */
const V4_LENGTHS = '12:1 13:1 14:2 15:3 16:14 17:9 18:15 19:28 20:46 21:52 22:114 23:103 24:612';
const V6_LENGTHS =
  '28:4 29:26 30:4 32:128 33:14 34:12 35:8 36:48 38:14 40:98 41:8 42:30 43:10 44:96 45:20 46:34 47:26 48:420';
/** One in five prefixes is IPv6. */
const V6_EVERY = 5;
/** Of a hundred prefixes, as many lie inside another one. */
const MORE_SPECIFIC_PERCENT = 57;
const REDRAWS = 8;

function lengthsOf(shares: string): readonly number[] {
  return shares.split(' ').flatMap((pair) => {
    const [length = 0, share = 0] = pair.split(':').map(Number);
    return Array.from({ length: share }, () => length);
  });
}

const lengths = { 4: lengthsOf(V4_LENGTHS), 6: lengthsOf(V6_LENGTHS) };

/** `count` different networks. A longer list with the same seed begins with the shorter one. */
export function generateNetworks(count: number, seed: number): Network[] {
  const random = randomWords(seed);
  const made: Network[] = [];
  const byFamily: Record<4 | 6, Network[]> = { 4: [], 6: [] };
  const seen = new Set<string>();
  while (made.length < count) {
    const family = made.length % V6_EVERY === V6_EVERY - 1 ? 6 : 4;
    const length = lengths[family][random() % lengths[family].length] ?? 24;
    const inside = random() % 100 < MORE_SPECIFIC_PERCENT ? wider(byFamily[family], length, random) : undefined;
    const prefix = prefixOf(inside ? addressIn(inside.prefix, random) : anyAddress(family, random), length);
    const text = formatCidr(prefix);
    if (seen.has(text)) continue;
    seen.add(text);
    const network = { prefix, text, answer: answerOf(random()) };
    made.push(network);
    byFamily[family].push(network);
  }
  return made;
}

/** An earlier network that is wider than `length`. */
function wider(earlier: readonly Network[], length: number, random: () => number): Network | undefined {
  for (let draw = 0; earlier.length > 0 && draw < REDRAWS; draw++) {
    const one = earlier[random() % earlier.length];
    if (one && one.prefix.prefixLength < length) return one;
  }
  return undefined;
}

const answerOf = (word: number): Network['answer'] => ((word % 3) + 1) as Network['answer'];

/** In the public unicast ranges. */
function anyAddress(family: 4 | 6, random: () => number): IpAddress {
  if (family === 4) return { family, words: [((1 + (random() % 223)) * 2 ** 24 + (random() & 0x00ff_ffff)) >>> 0] };
  return { family, words: [(0x2000_0000 | (random() & 0x0fff_ffff)) >>> 0, random(), random(), random()] };
}

function addressIn({ family, words, prefixLength }: IpPrefix, random: () => number): IpAddress {
  return { family, words: words.map((word, i) => (word | (random() & ~mask32(prefixLength - i * 32))) >>> 0) };
}

/** One prefix or address a line; what follows `#` or a space is ignored. A prefix that repeats counts once. */
export function readNetworks(text: string, seed: number): Network[] {
  const random = randomWords(seed);
  const seen = new Map<string, Network>();
  for (const [at, line] of text.split('\n').entries()) {
    const value = /^[^\s#;,]*/.exec(line.trim())?.[0] ?? '';
    if (value === '') continue;
    const address = parseIp(value);
    const prefix = address ? prefixOf(address, address.family === 4 ? 32 : 128) : parseCidr(value);
    if (!prefix)
      throw new Error(`Line ${at + 1} is not a network: "${line.slice(0, 60)}". Write one such as 192.0.2.0/24.`);
    const canonical = formatCidr(prefix);
    if (!seen.has(canonical)) seen.set(canonical, { prefix, text: canonical, answer: answerOf(random()) });
  }
  return [...seen.values()];
}

/** Whether the two have an address in common. */
export function overlap(a: IpPrefix, b: IpPrefix): boolean {
  const length = Math.min(a.prefixLength, b.prefixLength);
  return a.family === b.family && formatCidr(prefixOf(a, length)) === formatCidr(prefixOf(b, length));
}

/** Texts of addresses: one in five is IPv6, and half lie inside one of the networks. */
export function addressesFor(networks: readonly Network[], count: number, seed: number): string[] {
  const random = randomWords(seed);
  return Array.from({ length: count }, (_, i) => {
    const network = i % 2 === 0 ? networks[random() % networks.length] : undefined;
    return formatIp(network ? addressIn(network.prefix, random) : anyAddress(i % V6_EVERY === 1 ? 6 : 4, random));
  });
}

/** The right answers, found by trying every prefix length that occurs, longest first. */
export function rightAnswers(networks: readonly Network[], addresses: readonly string[]): Uint8Array {
  const byText = new Map(networks.map(({ text, answer }) => [text, answer]));
  const lengthsIn = (family: 4 | 6) =>
    [
      ...new Set(networks.filter(({ prefix }) => prefix.family === family).map(({ prefix }) => prefix.prefixLength)),
    ].sort((a, b) => b - a);
  const tried = { 4: lengthsIn(4), 6: lengthsIn(6) };
  return Uint8Array.from(addresses, (text) => {
    const address = parseIp(text)!;
    for (const length of tried[address.family]) {
      const answer = byText.get(formatCidr(prefixOf(address, length)));
      if (answer !== undefined) return answer;
    }
    return 0;
  });
}

/** As access rules. A network of one address is a rule of type `ip`. */
export function* rulesOf(networks: Iterable<Pick<Network, 'text' | 'answer'>>): Generator<EdgeRule> {
  for (const { text, answer } of networks) {
    const single = text.includes(':') ? '/128' : '/32';
    const verdict = verdicts[answer];
    if (text.endsWith(single)) yield { type: 'ip', value: text.slice(0, -single.length), verdict };
    else yield { type: 'ipMask', value: text, verdict };
  }
}
