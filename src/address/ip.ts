/**
 * Addresses and prefixes: one strict parser for rules and for visitors (RFC 4291, RFC 5952). Parsers that also accept
 * `1.2.3`, `0x7f.1` or `1.2.3.04` disagree about the address that such a text means, which lets a visitor evade a block
 * list. IPv4-mapped IPv6 addresses become IPv4.
 */

/** `words`: big-endian 32-bit words, one for IPv4 and four for IPv6. */
export interface IpAddress {
  family: 4 | 6;
  words: readonly number[];
}

/** Host bits are clear. */
export interface IpPrefix extends IpAddress {
  prefixLength: number;
}

/** "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255" */
const IP_TEXT_MAX_CHARS = 45;
const DOT = 46;
const COLON = 58;
const MAPPED_PREFIX_BITS = 96;

const groups = new Uint16Array(8);
const scratch = new Uint32Array(4);

/** The last result of `parseV4`, unsigned. A variable, because every number is a valid address. */
let lastV4 = 0;

/** Whether `text[start, end)` is an IPv4 address. Its value is then in `lastV4`. */
function parseV4(text: string, start: number, end: number): boolean {
  let value = 0;
  let octet = -1;
  let dots = 0;
  for (let i = start; i < end; i++) {
    const c = text.charCodeAt(i);
    if (c === DOT) {
      if (octet < 0 || dots === 3) return false;
      value = (value << 8) | octet;
      octet = -1;
      dots++;
      continue;
    }
    const digit = c - 48;
    if (digit < 0 || digit > 9 || octet === 0) return false;
    octet = octet < 0 ? digit : octet * 10 + digit;
    if (octet > 255) return false;
  }
  lastV4 = ((value << 8) | octet) >>> 0;
  return dots === 3 && octet >= 0;
}

const hexDigits = Int8Array.from({ length: 128 }, (_, c) =>
  /[0-9a-f]/i.test(String.fromCharCode(c)) ? Number.parseInt(String.fromCharCode(c), 16) : -1,
);

function hexDigit(c: number): number {
  return c < 128 ? hexDigits[c]! : -1;
}

/** Fills `groups`. False when `text[0, end)` is not an IPv6 address. */
function parseV6(text: string, end: number): boolean {
  let count = 0;
  let gap = -1;
  let i = 0;
  if (text.charCodeAt(0) === COLON) {
    if (text.charCodeAt(1) !== COLON) return false;
    gap = 0;
    i = 2;
  }
  while (i < end) {
    if (count === 8) return false;
    const groupStart = i;
    let value = 0;
    let digit = -1;
    while (i < end && i - groupStart < 4 && (digit = hexDigit(text.charCodeAt(i))) >= 0) {
      value = (value << 4) | digit;
      i++;
    }
    if (i < end && text.charCodeAt(i) === DOT) {
      if (count > 6 || !parseV4(text, groupStart, end)) return false;
      groups[count++] = lastV4 >>> 16;
      groups[count++] = lastV4 & 0xffff;
      i = end;
      break;
    }
    if (i === groupStart) return false;
    groups[count++] = value;
    if (i === end) break;
    if (text.charCodeAt(i) !== COLON) return false;
    i++;
    if (i < end && text.charCodeAt(i) === COLON) {
      if (gap >= 0) return false;
      gap = count;
      i++;
    } else if (i === end) return false;
  }
  if (gap < 0) return count === 8;
  if (count === 8) return false;
  const moved = count - gap;
  for (let k = 0; k < moved; k++) groups[7 - k] = groups[count - 1 - k] ?? 0;
  groups.fill(0, gap, 8 - moved);
  return true;
}

/**
 * Writes the words of an address into `out`, which has four, and returns its family, or 0. It allocates nothing, for
 * the hot path.
 */
export function parseIpInto(text: string, out: Uint32Array): 0 | 4 | 6 {
  const end = text.length;
  if (end < 2 || end > IP_TEXT_MAX_CHARS) return 0;
  if (end < 16 && parseV4(text, 0, end)) {
    out[0] = lastV4;
    return 4;
  }
  if (!parseV6(text, end)) return 0;
  for (let w = 0; w < 4; w++) out[w] = ((groups[2 * w] ?? 0) << 16) | (groups[2 * w + 1] ?? 0);
  if (out[0] === 0 && out[1] === 0 && out[2] === 0xffff) {
    out[0] = out[3] ?? 0;
    return 4;
  }
  return 6;
}

/** `null` for a text that is not exactly one address: with shorthand, leading zeros, brackets, a zone id or spaces. */
export function parseIp(text: string): IpAddress | null {
  const family = parseIpInto(text, scratch);
  if (family === 0) return null;
  const [w0 = 0, w1 = 0, w2 = 0, w3 = 0] = scratch;
  return { family, words: family === 4 ? [w0] : [w0, w1, w2, w3] };
}

/** The 32-bit mask of the first `bits` bits (0–32) as an unsigned number. */
export function mask32(bits: number): number {
  return bits <= 0 ? 0 : bits >= 32 ? 0xffffffff : (-1 << (32 - bits)) >>> 0;
}

function maskWords(words: readonly number[], bits: number): number[] {
  return words.map((word, index) => (word & mask32(bits - 32 * index)) >>> 0);
}

/**
 * Parses `address/length` and clears the host bits. A prefix within `::ffff:0:0/96` becomes its IPv4 prefix. An address
 * without a length is refused: it is a rule of type `ip`.
 */
export function parseCidr(text: string): IpPrefix | null {
  const slash = text.indexOf('/');
  if (slash < 0) return null;
  const digits = text.slice(slash + 1);
  if (!/^(0|[1-9]\d{0,2})$/.test(digits)) return null;
  let prefixLength = Number(digits);
  const addressText = text.slice(0, slash);
  const address = parseIp(addressText);
  if (!address) return null;
  if (address.family === 4 && addressText.includes(':')) {
    if (prefixLength > 128) return null;
    // A shorter prefix contains more than the mapped block and stays an IPv6 prefix.
    if (prefixLength < MAPPED_PREFIX_BITS) {
      return { family: 6, prefixLength, words: maskWords([0, 0, 0xffff, address.words[0] ?? 0], prefixLength) };
    }
    prefixLength -= MAPPED_PREFIX_BITS;
  }
  if (prefixLength > (address.family === 4 ? 32 : 128)) return null;
  return { family: address.family, prefixLength, words: maskWords(address.words, prefixLength) };
}

/** The network of one address. */
export function singleNetwork(address: IpAddress): IpPrefix {
  return { ...address, prefixLength: address.family === 4 ? 32 : 128 };
}

/** A network, or an address as the network of that address. */
export function parseNetwork(text: string): IpPrefix | null {
  const address = parseIp(text);
  return address === null ? parseCidr(text) : singleNetwork(address);
}

/** Formatted once: the id of every address rule that fires needs four of them. */
const octets = Array.from({ length: 256 }, (_, value) => String(value));
const octetsAndDot = octets.map((octet) => `${octet}.`);

export function formatV4(value: number): string {
  return (
    octetsAndDot[value >>> 24]! +
    octetsAndDot[(value >>> 16) & 255]! +
    octetsAndDot[(value >>> 8) & 255]! +
    octets[value & 255]!
  );
}

/** RFC 5952: in lower case, with the first longest run of two or more zero groups compressed. */
export function formatV6(w0: number, w1: number, w2: number, w3: number): string {
  const parts = [w0 >>> 16, w0 & 0xffff, w1 >>> 16, w1 & 0xffff, w2 >>> 16, w2 & 0xffff, w3 >>> 16, w3 & 0xffff];
  let bestStart = -1;
  let bestLength = 1;
  for (let i = 0; i < 8; i++) {
    let end = i;
    while (end < 8 && parts[end] === 0) end++;
    if (end - i > bestLength) {
      bestStart = i;
      bestLength = end - i;
    }
    if (end > i) i = end;
  }
  let text = '';
  for (let i = 0; i < 8; i++) {
    if (i === bestStart) {
      text += '::';
      i += bestLength - 1;
      continue;
    }
    if (text !== '' && !text.endsWith(':')) text += ':';
    text += (parts[i] ?? 0).toString(16);
  }
  return text;
}

export function formatIp(ip: IpAddress): string {
  const [w0 = 0, w1 = 0, w2 = 0, w3 = 0] = ip.words;
  return ip.family === 4 ? formatV4(w0) : formatV6(w0, w1, w2, w3);
}

/** An address and its one text: RFC 5952, and IPv4 for IPv4-mapped IPv6. */
export interface ReadIp {
  text: string;
  parsed: IpAddress;
}

/** `null` when the text is no address. */
export function readIp(text: string | null): ReadIp | null {
  const parsed = text === null ? null : parseIp(text);
  return parsed && { text: formatIp(parsed), parsed };
}

/** The one text of an address. */
export function canonicalIp(text: string | null): string | null {
  return readIp(text)?.text ?? null;
}

export function formatCidr(prefix: IpPrefix): string {
  return `${formatIp(prefix)}/${prefix.prefixLength}`;
}

/** The prefix of this length that contains the address. */
export function prefixOf(ip: IpAddress, prefixLength: number): IpPrefix {
  return { family: ip.family, words: maskWords(ip.words, prefixLength), prefixLength };
}

/**
 * The country that a network or a proxy reports: two letters, or Cloudflare's `T1` for Tor. A code that ISO does not
 * list matches no rule, so the list itself (`country-codes.ts`) stays out of the edge.
 */
export function canonicalCountry(text: string | null): string | null {
  return text !== null && /^(?:[a-z]{2}|t1)$/i.test(text) ? text.toUpperCase() : null;
}
