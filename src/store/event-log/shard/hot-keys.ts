/**
 * The keys of unsealed verdicts, in memory: their ids and the fields that filters use, so that only the rows of a page
 * are read. Their texts come with each batch, and from its row when the object starts; the first query reads them. Paths
 * are as long as visitors make them, so unsealed rows are bounded by these bytes too. It replaces table indexes, of which
 * every entry would be a written row.
 */
import { shortReference } from '../../../contract/edge/short-reference.ts';
import type { RowFilter } from '../row-filter.ts';
import type { RowKey, StoredRow } from '../log-row.ts';
import type { RowColumns } from '../packed-batch.ts';
import { PackedLines } from '../packed-lines.ts';

export interface HotKey extends RowKey {
  /** The batch that holds the row, and its line there. */
  batch: number;
  line: number;
  /** Number in the order of storing. */
  seq: number;
  jti: string | null;
  ip: string | null;
  asn: number | null;
  outcome: number;
  source: string;
  device: string;
  bot: string | null;
  proof: string | null;
  path: string;
  rules: readonly string[];
}

export interface BatchFacts {
  /** Number of its first row in the order of storing. */
  first: number;
  /** All records, also those that no reader sees. */
  records: number;
  maxTs: number;
}

export interface HotBatch extends Readonly<BatchFacts> {
  /** About what its keys take of the memory. */
  readonly bytes: number;
  /** In the order of storing. Made when they are first read, because an append does not need them. */
  readonly keys: readonly HotKey[];
}

const NO_RULES: readonly string[] = [];
/** What a key takes of the memory beside its texts, once it is read. */
const KEY_BYTES = 350;
/** Distinct sources, device types, bots and rules. */
const WORDS_MAX = 2000;

export class HotKeys {
  /** By number, rising. */
  readonly #batches = new Map<number, HotBatch>();
  /** Shares one copy of these few texts between all rows. */
  readonly #words = new Map<string, string>();
  #records = 0;
  #bytes = 0;

  /** How many records are unsealed. */
  get size(): number {
    return this.#records;
  }

  get bytes(): number {
    return this.#bytes;
  }

  set(no: number, { first, records, maxTs }: BatchFacts, columns: string): void {
    // A batch that is set again keeps its place in the map: its rows stay where they were stored.
    this.#forget(no);
    const bytes = columns.length + records * KEY_BYTES;
    let unread: string | null = columns;
    let keys: readonly HotKey[] = [];
    const read = (): readonly HotKey[] => {
      if (unread !== null) {
        keys = (JSON.parse(unread) as RowColumns[]).map((row, line) => this.#keyOf(no, line, first, row));
        unread = null;
      }
      return keys;
    };
    this.#batches.set(no, {
      first,
      records,
      maxTs,
      bytes,
      get keys() {
        return read();
      },
    });
    this.#records += records;
    this.#bytes += bytes;
  }

  #keyOf(batch: number, line: number, first: number, row: RowColumns): HotKey {
    const [at, id, timestamp, jti, ip, asn, outcome, source, device, bot, proof, path, rules] = row;
    return {
      batch,
      line,
      seq: first + at,
      id,
      timestamp,
      jti,
      ip,
      asn,
      outcome,
      source: this.#word(source),
      device: this.#word(device),
      bot: bot === null ? null : this.#word(bot),
      proof: proof === null ? null : this.#word(proof),
      path,
      rules: rules.length === 0 ? NO_RULES : rules.map((rule) => this.#word(rule)),
    };
  }

  #word(text: string): string {
    const known = this.#words.get(text);
    if (known !== undefined) return known;
    if (this.#words.size < WORDS_MAX) this.#words.set(text, text);
    return text;
  }

  delete(no: number): void {
    this.#forget(no);
    this.#batches.delete(no);
  }

  #forget(no: number): void {
    const known = this.#batches.get(no);
    this.#records -= known?.records ?? 0;
    this.#bytes -= known?.bytes ?? 0;
  }

  clear(): void {
    this.#batches.clear();
    this.#records = 0;
    this.#bytes = 0;
  }

  /** Oldest first, by storing. */
  batches(): IterableIterator<[no: number, batch: HotBatch]> {
    return this.#batches.entries();
  }

  get(no: number): HotBatch | undefined {
    return this.#batches.get(no);
  }

  /** The key as it is now: an erasure moves the lines of its batch. `undefined`: its row was erased. */
  held({ batch, line, seq }: HotKey): HotKey | undefined {
    const keys = this.#batches.get(batch)?.keys;
    return keys?.[line]?.seq === seq ? keys[line] : keys?.find((key) => key.seq === seq);
  }

  /** Keys of the rows that were stored after the row of this number, in the order of storing. */
  storedAfter(seq: number): HotKey[] {
    const found: HotKey[] = [];
    const batches = [...this.#batches.values()];
    for (const [index, batch] of batches.entries()) {
      // Its keys are not read where the next batch begins before the wanted rows.
      if ((batches[index + 1]?.first ?? Infinity) > seq + 1) found.push(...batch.keys.filter((key) => key.seq > seq));
    }
    return found;
  }

  matching(filter: RowFilter): HotKey[] {
    const found: HotKey[] = [];
    for (const { keys } of this.#batches.values()) for (const key of keys) if (keyMatches(filter, key)) found.push(key);
    return found;
  }

  count(filter: RowFilter): number {
    let count = 0;
    for (const { keys } of this.#batches.values()) for (const key of keys) if (keyMatches(filter, key)) count++;
    return count;
  }
}

/** The same test as `matches` makes of a sealed record. */
export function keyMatches(filter: RowFilter, key: HotKey): boolean {
  const { outcomes, sources, asns, devices, bots, proofs, path, firedRules } = filter;
  if (key.timestamp < filter.since || key.timestamp >= filter.until) return false;
  if (filter.jti !== null && key.jti !== filter.jti) return false;
  if (filter.ip !== null && key.ip !== filter.ip) return false;
  if (filter.id !== null && key.id !== filter.id) return false;
  if (filter.shortId !== null && shortReference(key.id) !== filter.shortId) return false;
  if (outcomes && !outcomes.includes(key.outcome)) return false;
  if (sources && !sources.includes(key.source)) return false;
  if (asns && (key.asn === null || !asns.includes(key.asn))) return false;
  if (devices && !devices.includes(key.device)) return false;
  if (bots && (key.bot === null || !bots.includes(key.bot))) return false;
  if (proofs && (key.proof === null || !proofs.includes(key.proof))) return false;
  if (path && (path.prefix ? !key.path.startsWith(path.text) : key.path !== path.text)) return false;
  if (key.rules.length < filter.minRulesFired) return false;
  return !firedRules || key.rules.some((rule) => firedRules.includes(rule));
}

/** The rows of these keys, in the order of the keys. Only one batch at a time is in memory with all its rows. */
export function readRows<Key extends HotKey>(sql: SqlStorage, keys: readonly Key[]): (Key & StoredRow)[] {
  const wanted = Map.groupBy(keys, ({ batch }) => batch);
  const bodiesOf = new Map<Key, string>();
  for (const { no, bodies } of sql.exec<{ no: number; bodies: ArrayBuffer }>(
    'SELECT no, bodies FROM batches WHERE no IN (SELECT value FROM json_each(?))',
    JSON.stringify([...wanted.keys()]),
  )) {
    const lines = new PackedLines(bodies);
    const rising = (wanted.get(no) ?? []).sort((one, other) => one.line - other.line);
    for (const key of rising) bodiesOf.set(key, lines.at(key.line));
  }
  return keys.map((key) => ({ ...key, body: bodiesOf.get(key) as string }));
}
