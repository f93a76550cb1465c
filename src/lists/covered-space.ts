/**
 * How much of the internet a reading adds. A list that blocks half of it is a mistake of the publisher, or an attack, and
 * may have two hundred lines: a share of the entries says nothing about that.
 */
import { lengthOf, wordAt } from './entry-key.ts';

/** A sixteenth of IPv4. */
const V4_ADDRESSES_MAX = 2 ** 28;
/** Networks of /48: a sixteenth of what a registry of a continent has, a /12. */
const V6_SITES_MAX = 2 ** 32;
const V6_SITE_LENGTH = 48;
const COUNTRIES_MAX = 8;

/** Counts entries that come in the order of their keys. Networks inside one another count once. */
export class CoveredSpace {
  #v4 = 0;
  #v4End = 0;
  #v6 = 0;
  #v6End = 0;
  #countries = 0;

  add(key: string): void {
    const kind = key.charAt(0);
    if (kind === 'c') this.#countries += 1;
    else if (kind === '4') {
      const start = wordAt(key, 1);
      const end = start + 2 ** (32 - lengthOf(key));
      this.#v4 += Math.max(0, end - Math.max(start, this.#v4End));
      this.#v4End = Math.max(end, this.#v4End);
    } else if (kind === '6' && lengthOf(key) <= V6_SITE_LENGTH) {
      const start = wordAt(key, 1) * 65_536 + Math.floor(wordAt(key, 9) / 65_536);
      const end = start + 2 ** (V6_SITE_LENGTH - lengthOf(key));
      this.#v6 += Math.max(0, end - Math.max(start, this.#v6End));
      this.#v6End = Math.max(end, this.#v6End);
    }
  }

  /** What is too much of it to come at once, in words; `null` when nothing is. */
  get excess(): string | null {
    if (this.#v4 > V4_ADDRESSES_MAX) return `${Math.round((100 * this.#v4) / 2 ** 32)} % of all IPv4 addresses`;
    if (this.#v6 > V6_SITES_MAX)
      return `IPv6 networks of the size of ${Math.round(this.#v6 / 2 ** 16)} providers (/32)`;
    return this.#countries > COUNTRIES_MAX ? `${this.#countries} countries` : null;
  }
}
