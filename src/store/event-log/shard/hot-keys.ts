/**
 * The keys of unsealed rows, in memory: their ids and the fields that filters use, so that only returned rows are read.
 * Built from the table when the object starts. The number of unsealed rows is bounded, so this stays below 20 MB. It
 * replaces table indexes and saves four of five written rows per verdict.
 */
import type { RowFilter } from '../row-filter.ts';
import type { LogRow, RowKey } from '../log-row.ts';

/** The fields that filters use. Which rules fired is only in the body. */
type FilteredColumns = Pick<
  LogRow,
  'jti' | 'ip' | 'asn' | 'outcome' | 'source' | 'device' | 'bot' | 'proof' | 'path' | 'fired' | 'kept'
>;

export interface HotKey extends RowKey, FilteredColumns {
  seq: number;
}

/** Keys per statement. With more matches, at least one row in eight matches, and scanning for a page is short. */
const KEYS_PER_STATEMENT_MAX = 5000;
/** Distinct sources, device types and bots. */
const WORDS_MAX = 2000;

export class HotKeys {
  readonly #keys = new Map<string, HotKey>();
  /** Shares one copy of these few texts between all rows. */
  readonly #words = new Map<string, string>();

  get size(): number {
    return this.#keys.size;
  }

  get(id: string): HotKey | undefined {
    return this.#keys.get(id);
  }

  set(
    { id, timestamp, jti, ip, asn, outcome, source, device, bot, proof, path, fired, kept }: FilteredColumns & RowKey,
    seq: number,
  ): void {
    const words = {
      source: this.#word(source),
      device: this.#word(device),
      bot: bot === null ? null : this.#word(bot),
      proof: proof === null ? null : this.#word(proof),
    };
    this.#keys.set(id, { id, timestamp, seq, jti, ip, asn, outcome, ...words, path, fired, kept });
  }

  #word(text: string): string {
    const known = this.#words.get(text);
    if (known !== undefined) return known;
    if (this.#words.size < WORDS_MAX) this.#words.set(text, text);
    return text;
  }

  delete(id: string): void {
    this.#keys.delete(id);
  }

  /** Forgets every key for which `gone` returns `true`. */
  forget(gone: (key: HotKey) => boolean): void {
    for (const key of this.#keys.values()) if (gone(key)) this.#keys.delete(key.id);
  }

  /** Keys of the rows that were stored after the row of this number, in the order of storing. */
  storedAfter(seq: number): HotKey[] {
    return [...this.#keys.values()].filter((key) => key.seq > seq).sort((a, b) => a.seq - b.seq);
  }

  /** Keys of one session. */
  ofSession(jti: string): HotKey[] {
    return [...this.#keys.values()].filter((key) => key.jti === jti);
  }

  /**
   * Keys of the rows that can match the filter, without its `firedRules`. `null`: there are too many; scan the table.
   */
  matching(filter: RowFilter): HotKey[] | null {
    const found: HotKey[] = [];
    for (const key of this.#candidates(filter)) {
      if (!canMatch(filter, key)) continue;
      if (found.length === KEYS_PER_STATEMENT_MAX) return null;
      found.push(key);
    }
    return found;
  }

  /** How many rows match the filter, without its `firedRules`. */
  count(filter: RowFilter): number {
    let count = 0;
    for (const key of this.#candidates(filter)) if (canMatch(filter, key)) count++;
    return count;
  }

  #candidates({ id }: RowFilter): Iterable<HotKey> {
    if (id === null) return this.#keys.values();
    const key = this.#keys.get(id);
    return key === undefined ? [] : [key];
  }
}

/** Tests everything but the rules that fired. */
export function canMatch(filter: RowFilter, key: HotKey): boolean {
  const { outcomes, sources, asns, devices, bots, proofs, path, firedRules } = filter;
  if (!key.kept || key.timestamp < filter.since || key.timestamp >= filter.until) return false;
  if (filter.jti !== null && key.jti !== filter.jti) return false;
  if (filter.ip !== null && key.ip !== filter.ip) return false;
  if (outcomes && !outcomes.includes(key.outcome)) return false;
  if (sources && !sources.includes(key.source)) return false;
  if (asns && (key.asn === null || !asns.includes(key.asn))) return false;
  if (devices && !devices.includes(key.device)) return false;
  if (bots && (key.bot === null || !bots.includes(key.bot))) return false;
  if (proofs && (key.proof === null || !proofs.includes(key.proof))) return false;
  if (path && (path.prefix ? !key.path.startsWith(path.text) : key.path !== path.text)) return false;
  return key.fired >= Math.max(filter.minRulesFired, firedRules ? 1 : 0);
}

/** For `(ts, id) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))`. */
export function keyList(keys: readonly RowKey[]): string {
  return JSON.stringify(keys.map(({ timestamp, id }) => [timestamp, id]));
}
