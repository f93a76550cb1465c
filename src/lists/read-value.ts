/**
 * Reads one value of a list: an address, a network, a range `a-b`, or an AS number. What is understood goes into the set;
 * what is not, or what a list may not have, goes into the report. Nothing is left out silently.
 */
import { asnDigits } from '../address/asn.ts';
import { countryCodes } from '../address/country-codes.ts';
import { type IpAddress, type IpPrefix, parseIp, parseNetwork } from '../address/ip.ts';
import { isReserved } from '../address/reserved.ts';
import { asnKey, countryKey, networkKey } from './entry-key.ts';
import { EntrySet } from './entry-set.ts';
import {
  ENTRIES_MAX,
  NETWORKS_READ_MAX,
  OTHER_ENTRIES_MAX,
  type ListError,
  type ReadingReport,
} from './list-format.ts';

/** Wider networks are mistakes: a list that blocks them blocks countries. */
const V4_LENGTH_MIN = 8;
const V6_LENGTH_MIN = 19;
const EXAMPLES_MAX = 20;
/** Of a line that is repeated in the report. */
const SHOWN_CHARS = 80;

export class ValueReader {
  readonly entries = new EntrySet();
  readonly report: ReadingReport = { lines: 0, notUnderstood: 0, reserved: 0, tooWide: 0, examples: [] };
  readonly #includeReserved: boolean;
  #networksRead = 0;

  constructor(includeReserved: boolean) {
    this.#includeReserved = includeReserved;
  }

  /** Whether it has taken more than a list may have. */
  get isTooMany(): boolean {
    return this.excess !== null;
  }

  get excess(): ListError | null {
    const { size, others } = this.entries;
    if (size > ENTRIES_MAX || this.#networksRead > NETWORKS_READ_MAX) return { kind: 'too-many' };
    return others > OTHER_ENTRIES_MAX ? { kind: 'too-many-others' } : null;
  }

  /** `text` is trimmed. `line`: its number in the file. */
  read(text: string, line: number): void {
    this.report.lines += 1;
    const dash = text.indexOf('-');
    const networks = dash > 0 ? rangeOf(text, dash) : networkOf(text);
    if (networks !== null) {
      this.#networksRead += networks.length;
      for (const network of networks) this.#add(network, text, line);
      return;
    }
    const asn = /^as\d/i.test(text) ? asnDigits(text) : null;
    if (asn === null) this.#leaveOut('notUnderstood', text, line, 'is no address, network, range or AS number');
    else this.entries.add(asnKey(Number(asn)));
  }

  /** A number where AS numbers are. */
  readAsn(asn: string, line: number): void {
    this.report.lines += 1;
    const digits = asnDigits(asn);
    if (digits === null) this.#leaveOut('notUnderstood', asn, line, 'is no AS number');
    else this.entries.add(asnKey(Number(digits)));
  }

  readCountry(code: string, line: number): void {
    this.report.lines += 1;
    const upper = code.toUpperCase();
    if (countryCodes.has(upper)) this.entries.add(countryKey(upper));
    else this.#leaveOut('notUnderstood', code, line, 'is no country');
  }

  refuse(text: string, line: number, reason: string): void {
    this.report.lines += 1;
    this.#leaveOut('notUnderstood', text, line, reason);
  }

  #add(network: IpPrefix, text: string, line: number): void {
    const { family, words, prefixLength } = network;
    if (prefixLength < (family === 4 ? V4_LENGTH_MIN : V6_LENGTH_MIN)) {
      this.#leaveOut('tooWide', text, line, 'is wider than a list may have');
      return;
    }
    if (!this.#includeReserved && isReserved(network)) {
      this.#leaveOut('reserved', text, line, 'is reserved, not of the internet');
      return;
    }
    if (family === 4) this.entries.addV4(words[0] ?? 0, prefixLength);
    else this.entries.add(networkKey(6, words, prefixLength));
  }

  #leaveOut(count: 'notUnderstood' | 'reserved' | 'tooWide', text: string, line: number, reason: string): void {
    const { report } = this;
    report[count] += 1;
    if (report.examples.length < EXAMPLES_MAX) report.examples.push({ line, text: shownLine(text), reason });
  }
}

function networkOf(text: string): IpPrefix[] | null {
  const network = parseNetwork(text);
  return network && [network];
}

function rangeOf(text: string, dash: number): IpPrefix[] | null {
  const first = parseIp(text.slice(0, dash).trim());
  const last = parseIp(text.slice(dash + 1).trim());
  return first && last && networksOfRange(first, last);
}

/** A stranger's text: short, and without characters that act on a terminal. */
export function shownLine(text: string): string {
  const printable = Array.from(text.slice(0, SHOWN_CHARS), (char) => (/[\p{C}\p{Z}]/u.test(char) ? ' ' : char));
  return printable.join('').trim();
}

const WORD_BITS = 32n;
const WORD_MASK = 0xffff_ffffn;

/**
 * The fewest networks that cover exactly a range of addresses, at most 254. `null` when the addresses are of two
 * families, or the first is after the last.
 */
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
