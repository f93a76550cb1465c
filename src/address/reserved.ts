/** Networks that no visitor from the internet comes from: private, local, documentation, multicast, and what is not assigned. */
import { type IpPrefix, mask32, parseCidr } from './ip.ts';

const RESERVED = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
].map(prefixOfText);
/** First octets of IPv4 addresses in one of them. Nearly every address of a list has another one and needs no search. */
export const reservedFirstOctets: ReadonlySet<number> = new Set(
  RESERVED.filter(({ family }) => family === 4).flatMap(({ words: [word = 0], prefixLength }) =>
    Array.from({ length: Math.max(1, 2 ** (8 - prefixLength)) }, (_, i) => (word >>> 24) + i),
  ),
);
/** Everything else in IPv6 is local, multicast or not assigned. */
const GLOBAL_V6 = prefixOfText('2000::/3');

function prefixOfText(text: string): IpPrefix {
  const prefix = parseCidr(text);
  if (prefix === null) throw new TypeError(text);
  return prefix;
}

/** Whether one of the two contains the other. */
function overlaps(a: IpPrefix, b: IpPrefix): boolean {
  const bits = Math.min(a.prefixLength, b.prefixLength);
  return (
    a.family === b.family && a.words.every((word, i) => ((word ^ (b.words[i] ?? 0)) & mask32(bits - 32 * i)) === 0)
  );
}

export function isReserved(prefix: IpPrefix): boolean {
  const { family, words, prefixLength } = prefix;
  if (family === 6 && !overlaps(prefix, GLOBAL_V6)) return true;
  if (family === 4 && prefixLength >= 8 && !reservedFirstOctets.has((words[0] ?? 0) >>> 24)) return false;
  return RESERVED.some((reserved) => overlaps(prefix, reserved));
}
