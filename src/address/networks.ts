/**
 * The networks around an address that a budget counts: the visitor's own and the larger ones that contain it. A budget of
 * the own network alone is worth little to somebody with a /48, who owns 65,536 of them. A larger network has a larger
 * bound, because it has more people: a /56 is what a provider gives one household or 256 phones, and a /16 and a /48 are
 * whole towns, carriers or clouds.
 */
import { formatCidr, parseIp, prefixOf } from './ip.ts';
import { WindowCounts } from '../bytes/window-counts.ts';

export interface Network {
  /** `192.0.2.0/24`, or `none` where the address is unknown. */
  prefix: string;
  /** How many times the bound of the visitor's own network this one has. */
  times: number;
}

/** Prefix lengths of networks, and how many times the bound of the first each has. A site is assigned a /64 (RFC 6177). */
const levels = {
  4: [
    [24, 1],
    [16, 10],
  ],
  6: [
    [64, 1],
    [56, 3],
    [48, 10],
  ],
} as const;

/** As `levels`, of one address. A household has an IPv4 address or a /56, but a /56 can be 256 phones as well. */
const levelsOfAddress = { 4: [[32, 1]], 6: levels[6].slice(0, 2) } as const;

const UNKNOWN: readonly Network[] = [{ prefix: 'none', times: 1 }];

/** The two networks whose visitors are compared with each other: sessions without input, pages without a session. */
export interface Neighbours {
  /** /24 or /56: an office, a household, some hundred phones. */
  near: string;
  /** /16 or /48. */
  around: string;
}

export function neighboursOf(ip: string | null): Neighbours {
  const address = ip === null ? null : parseIp(ip);
  if (address === null) return { near: 'none', around: 'none' };
  const [near, around] = address.family === 4 ? [24, 16] : [56, 48];
  return { near: formatCidr(prefixOf(address, near)), around: formatCidr(prefixOf(address, around)) };
}

/** The visitor's own network, `192.0.2.0/24` or `2001:db8:0:1::/64`, or `none` where the address is unknown. */
export function addressPrefix(ip: string | null): string {
  const address = ip === null ? null : parseIp(ip);
  if (address === null) return 'none';
  return formatCidr(prefixOf(address, levels[address.family][0][0]));
}

/** From the visitor's own network to the largest. */
export function networksOf(ip: string | null): readonly Network[] {
  return networksAt(ip, levels);
}

/** The networks that are one address: `192.0.2.1/32`, or the /64 and the /56 around it, which has three times the bound. */
export function networksOfAddress(ip: string | null): readonly Network[] {
  return networksAt(ip, levelsOfAddress);
}

function networksAt(ip: string | null, sizes: typeof levels | typeof levelsOfAddress): readonly Network[] {
  const address = ip === null ? null : parseIp(ip);
  if (address === null) return UNKNOWN;
  return sizes[address.family].map(([bits, times]) => ({ prefix: formatCidr(prefixOf(address, bits)), times }));
}

/** What one visitor asks from: an IPv4 address, or the /64 that a site is assigned. `none` where the address is unknown. */
export function ownAddress(ip: string | null): string {
  return addressOrPrefix(ip, 64);
}

/** All /64s of a /48 together have as many reserves as the addresses of a /24. */
const RESERVES_OF_V6_NETWORKS = 256;

/**
 * The reserves that count the calls of a visitor before their networks do, in this order: of the session or clearance that
 * they earned, by its id (`payer`); of their IPv4 address, or of the /56 that an IPv6 household has; and of their /64, the
 * network of a phone. A /56 may hold 256 phones, and none of them is refused for what the others send.
 */
export function reservesOf(ip: string | null, payer: string | null): readonly (readonly Network[])[] {
  const reserves: Network[][] = payer === null ? [] : [[{ prefix: payer, times: 1 }]];
  reserves.push([{ prefix: addressOrPrefix(ip, 56), times: 1 }]);
  const [phone, , town] = networksOf(ip);
  // Somebody may own a whole /48.
  if (phone && town) reserves.push([phone, { prefix: town.prefix, times: RESERVES_OF_V6_NETWORKS }]);
  return reserves;
}

function addressOrPrefix(ip: string | null, ipv6Bits: number): string {
  const address = ip === null ? null : parseIp(ip);
  return address === null ? 'none' : formatCidr(prefixOf(address, address.family === 4 ? 32 : ipv6Bits));
}

/**
 * How often the networks of an address used something within a window, kept in this isolate. A larger network may use it
 * more often (`networksOf`). A use that one network refuses counts in none of them. Each address has a reserve, and so
 * has each visitor who earned a session or a clearance. It counts in no network, so that nobody can use up what others need.
 */
export class NetworkCounts {
  readonly #networks: CountsBySize;
  readonly #reserves: CountsBySize;

  /** `max`: of the visitor's own network. `reserve`: of each address and each payer, beside it. */
  constructor(max: number, windowMs: number, reserve = 0) {
    this.#networks = new CountsBySize(max, windowMs);
    this.#reserves = new CountsBySize(reserve, windowMs);
  }

  /**
   * Counts one use. False: one of the networks has used up its window. `payer`: id of the session or clearance that the
   * visitor earned.
   */
  take(ip: string | null, nowMs: number, payer: string | null = null): boolean {
    if (reservesOf(ip, payer).some((reserve) => this.#reserves.take(reserve, nowMs))) return true;
    return this.#networks.take(networksOf(ip), nowMs);
  }

  /** Whether the next use may pass. Counts nothing. */
  hasRoom(ip: string | null, nowMs: number): boolean {
    if (reservesOf(ip, null).some((reserve) => this.#reserves.hasRoom(reserve, nowMs))) return true;
    return this.#networks.hasRoom(networksOf(ip), nowMs);
  }
}

/** Counts of networks, those of each size by themselves. */
class CountsBySize {
  readonly #max: number;
  readonly #windowMs: number;
  /** By how many times the bound. */
  readonly #counts = new Map<number, WindowCounts>();

  constructor(max: number, windowMs: number) {
    this.#max = max;
    this.#windowMs = windowMs;
  }

  hasRoom(networks: readonly Network[], nowMs: number): boolean {
    return networks.every(({ prefix, times }) => this.#countsOf(times).hasRoom(prefix, nowMs));
  }

  /** Counts one use in all of them, or in none. */
  take(networks: readonly Network[], nowMs: number): boolean {
    if (!this.hasRoom(networks, nowMs)) return false;
    for (const { prefix, times } of networks) this.#countsOf(times).take(prefix, nowMs);
    return true;
  }

  #countsOf(times: number): WindowCounts {
    let counts = this.#counts.get(times);
    if (counts === undefined) this.#counts.set(times, (counts = new WindowCounts(this.#max * times, this.#windowMs)));
    return counts;
  }
}
