/**
 * Unsealed captchas in the database: the JSON of their merged records, about a hundred in a row, in the order of their
 * ids, which is that of time. Memory has where each page begins, and the pages that were read last.
 */
import type { StoredRow } from '../log-row.ts';

/** A row in SQLite holds 2 MB, and a character takes three bytes at most. Reading a page takes about 0.1 ms. */
const PAGE_MAX_CHARS = 100_000;
/** Pages in memory: all of an hour with usual traffic, so that neither events nor searches read them again. */
const OPEN_MAX_BYTES = 16 * 1024 * 1024;
const ID_AT = '{"v":1,"id":"'.length;
const ID_LENGTH = 36;
const LINE_FEED = 0x0a;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

interface Page {
  /** The id of its first record. Ids up to the first of the next page belong here. */
  first: string;
  rows: number;
  bytes: number;
}

/** By id, rising. */
type Bodies = ReadonlyMap<string, string>;
/** New bodies by id; `null`: the record goes. */
export type PageChanges = ReadonlyMap<string, string | null>;

export class CaptchaPages {
  readonly #sql: SqlStorage;
  readonly #pageMaxChars: number;
  readonly #openMaxBytes: number;
  /** By the first id of the page, in the order of opening. */
  readonly #opened = new Map<string, { bodies: Bodies; bytes: number }>();
  #openBytes = 0;
  /** Rising. */
  #pages: Page[];
  #rows = 0;
  #bytes = 0;

  constructor(sql: SqlStorage, pageMaxChars = PAGE_MAX_CHARS, openMaxBytes = OPEN_MAX_BYTES) {
    this.#sql = sql;
    this.#pageMaxChars = pageMaxChars;
    this.#openMaxBytes = openMaxBytes;
    this.#pages = sql
      .exec<Page & Record<string, SqlStorageValue>>(
        'SELECT first, rows, octet_length(records) AS bytes FROM captcha_pages ORDER BY first',
      )
      .toArray();
    this.#sum();
  }

  get rows(): number {
    return this.#rows;
  }

  /** Size of all records. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Size of the records that are in memory too. */
  get openBytes(): number {
    return this.#openBytes;
  }

  get(id: string): string | undefined {
    const page = this.#pages[this.#indexOf(id)];
    return page && this.#open(page, true).get(id);
  }

  /** The last page that begins at this id or before it, or else the first page. */
  #indexOf(id: string): number {
    let [low, high] = [0, this.#pages.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#pages[middle] as Page).first <= id) low = middle;
      else high = middle;
    }
    return low;
  }

  /** Keeps the page in memory where there is room, or makes room for it. */
  #open(page: Page, makesRoom: boolean): Bodies {
    const known = this.#opened.get(page.first);
    if (known !== undefined) return known.bodies;
    const bodies = this.#read(page);
    const hasRoom = (): boolean => this.#openBytes + page.bytes <= this.#openMaxBytes;
    if (makesRoom) for (const first of this.#opened.keys()) if (!hasRoom()) this.#close(first);
    if (hasRoom()) {
      this.#opened.set(page.first, { bodies, bytes: page.bytes });
      this.#openBytes += page.bytes;
    }
    return bodies;
  }

  #close(first: string): void {
    this.#openBytes -= this.#opened.get(first)?.bytes ?? 0;
    this.#opened.delete(first);
  }

  #read({ first }: Page): Bodies {
    const [row] = this.#sql.exec<{ records: ArrayBuffer }>('SELECT records FROM captcha_pages WHERE first = ?', first);
    const bytes = new Uint8Array(row?.records ?? new ArrayBuffer(0));
    const bodies = new Map<string, string>();
    for (let start = 0; start < bytes.length;) {
      const end = bytes.indexOf(LINE_FEED, start);
      // Decoded one by one: a slice of the whole text would keep all of it in memory.
      const body = decoder.decode(bytes.subarray(start, end));
      bodies.set(idOf(body), body);
      start = end + 1;
    }
    return bodies;
  }

  /** Records of the pages with these times, as they are after the changes. One page after another is read. */
  *between(since: number, until: number, changes: PageChanges, newestFirst: boolean): Generator<StoredRow> {
    const changed = Map.groupBy(changes, ([id]) => this.#indexOf(id));
    const indexed = this.#held().map((page, index) => ({ page, index }));
    for (const { page, index } of newestFirst ? indexed.toReversed() : indexed) {
      const isWithin = index === 0 || timeOf(page.first) < until;
      const next = this.#pages[index + 1];
      if (!isWithin || (next && timeOf(next.first) < since)) continue;
      const bodies = this.#after(page, changed.get(index) ?? []);
      for (const body of newestFirst ? bodies.toReversed() : bodies) {
        const id = idOf(body);
        const timestamp = timeOf(id);
        if (timestamp >= since && timestamp < until) yield { id, timestamp, body };
      }
    }
  }

  /** At least one page, so that there is one for the first record. */
  #held(): readonly Page[] {
    return this.#pages.length > 0 ? this.#pages : [{ first: '', rows: 0, bytes: 0 }];
  }

  /** A page as it is after these changes, in the order of ids. */
  #after(page: Page, changes: readonly [string, string | null][]): string[] {
    const bodies = this.#open(page, false);
    if (changes.length === 0) return [...bodies.values()];
    const held = new Map(bodies);
    for (const [id, body] of changes) {
      if (body === null) held.delete(id);
      else held.set(id, body);
    }
    return [...held].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, body]) => body);
  }

  /** Runs inside the caller's transaction. If it fails, this object no longer agrees with the database: make another one. */
  put(changes: PageChanges): void {
    if (changes.size === 0) return;
    const changed = Map.groupBy(changes, ([id]) => this.#indexOf(id));
    this.#pages = this.#held().flatMap((page, index) => {
      const own = changed.get(index);
      if (own === undefined) return page;
      const bodies = this.#after(page, own);
      this.#sql.exec('DELETE FROM captcha_pages WHERE first = ?', page.first);
      this.#close(page.first);
      return this.#write(bodies);
    });
    this.#sum();
  }

  /** As pages of about the same length. */
  #write(bodies: readonly string[]): Page[] {
    const total = bodies.reduce((sum, { length }) => sum + length, 0);
    const target = total / Math.ceil(total / this.#pageMaxChars);
    const parts: string[][] = [];
    let length = Infinity;
    for (const body of bodies) {
      if (length >= target) {
        parts.push([]);
        length = 0;
      }
      parts.at(-1)?.push(body);
      length += body.length;
    }
    return parts.map((part) => {
      const first = idOf(part[0] ?? '');
      const records = encoder.encode(`${part.join('\n')}\n`);
      this.#sql.exec('INSERT INTO captcha_pages (first, rows, records) VALUES (?, ?, ?)', first, part.length, records);
      return { first, rows: part.length, bytes: records.length };
    });
  }

  #sum(): void {
    this.#rows = this.#pages.reduce((sum, { rows }) => sum + rows, 0);
    this.#bytes = this.#pages.reduce((sum, { bytes }) => sum + bytes, 0);
  }
}

function idOf(body: string): string {
  return body.slice(ID_AT, ID_AT + ID_LENGTH);
}

/** The time that an id begins with; epoch milliseconds. */
function timeOf(id: string): number {
  return parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}
