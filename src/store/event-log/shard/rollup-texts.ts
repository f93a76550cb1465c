/**
 * The texts of counted values and their ids. Visitors choose paths and user agents, so a busy log has many texts that
 * occur once, and each written row counts. A text has one row to find its id by. The other way round, the texts of a
 * merge are packed: `rollup_texts` has one row for up to `PACK_TEXTS` texts with ids in a row.
 */
/** Few enough that one text is read fast, many enough that packs cost nearly no rows. */
const PACK_TEXTS = 256;
/** Ids kept in memory; further ones are read from the table. */
const CACHED_IDS_MAX = 50_000;
/** Up to this many ids are looked up pack by pack. For more, every pack between them is read in one pass. */
const LOOKED_UP_ONE_BY_ONE = 64;

/** The texts of one pack; `null` where no bucket uses the value any more. */
type PackedTexts = (string | null)[];

interface Pack extends Record<string, SqlStorageValue> {
  first: number;
  texts: string;
}

export class RollupTexts {
  readonly #sql: SqlStorage;
  readonly #ids = new Map<string, number>();
  /** Dimension → id → text, of dimensions that were read as a whole. */
  readonly #whole = new Map<number, Map<number, string>>();
  /** Texts with the next ids, which `flush` writes. All are of one dimension. */
  #unwritten: string[] = [];
  #nextId: number;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#nextId = this.#afterLast();
  }

  /** The id of a value that was ever counted, or `null`. */
  idOf(dimension: number, value: string): number | null {
    const cached = this.#ids.get(`${dimension} ${value}`);
    if (cached !== undefined) return cached;
    const [row] = this.#sql.exec<{ id: number }>(
      'SELECT id FROM rollup_values WHERE dimension = ? AND value = ?',
      dimension,
      value,
    );
    if (row) this.#remember(dimension, value, row.id);
    return row?.id ?? null;
  }

  /** Gives a new value its id. The caller calls `flush` before it goes on to another dimension. */
  add(dimension: number, value: string): number {
    const id = this.#nextId + this.#unwritten.length;
    this.#sql.exec('INSERT INTO rollup_values (dimension, value, id) VALUES (?, ?, ?)', dimension, value, id);
    this.#remember(dimension, value, id);
    this.#whole.get(dimension)?.set(id, value);
    this.#unwritten.push(value);
    return id;
  }

  flush(dimension: number): void {
    for (let start = 0; start < this.#unwritten.length; start += PACK_TEXTS) {
      const texts = this.#unwritten.slice(start, start + PACK_TEXTS);
      this.#sql.exec(
        'INSERT INTO rollup_texts (first, dimension, texts) VALUES (?, ?, ?)',
        this.#nextId + start,
        dimension,
        JSON.stringify(texts),
      );
    }
    this.#nextId += this.#unwritten.length;
    this.#unwritten = [];
  }

  /** The texts of every id of a dimension; for dimensions with few values. */
  ofDimension(dimension: number): ReadonlyMap<number, string> {
    let texts = this.#whole.get(dimension);
    if (texts === undefined) {
      texts = new Map();
      const packs = this.#sql.exec<Pack>('SELECT first, texts FROM rollup_texts WHERE dimension = ?', dimension);
      for (const pack of packs) {
        for (const [id, text] of entriesOf(pack)) texts.set(id, text);
      }
      this.#whole.set(dimension, texts);
    }
    return texts;
  }

  /** The texts of these ids of one dimension: the first `limit`, sorted by text. */
  ofIds(dimension: number, ids: readonly number[], limit: number): { id: number; value: string }[] {
    const rising = [...ids].sort((a, b) => a - b);
    const wanted = new Set(rising);
    const found: { id: number; value: string }[] = [];
    for (const pack of this.#packsOf(dimension, rising)) {
      for (const [id, value] of entriesOf(pack)) if (wanted.has(id)) found.push({ id, value });
    }
    if (found.length > limit) found.sort((a, b) => (a.value < b.value ? -1 : 1));
    return found.slice(0, limit);
  }

  /** Each pack once. */
  *#packsOf(dimension: number, rising: readonly number[]): Generator<Pack> {
    const [least] = rising;
    const most = rising.at(-1);
    if (least === undefined || most === undefined) return;
    if (rising.length > LOOKED_UP_ONE_BY_ONE) {
      yield* this.#sql.exec<Pack>(
        'SELECT first, texts FROM rollup_texts WHERE first > ? AND first <= ? AND dimension = ?',
        least - PACK_TEXTS,
        most,
        dimension,
      );
      return;
    }
    let last = Number.NaN;
    for (const id of rising) {
      const [pack] = this.#sql.exec<Pack>(
        'SELECT first, texts FROM rollup_texts WHERE first <= ? ORDER BY first DESC LIMIT 1',
        id,
      );
      if (pack && pack.first !== last) yield pack;
      last = pack?.first ?? last;
    }
  }

  /** Deletes the texts whose ids no bucket uses. */
  dropUnused(live: ReadonlySet<number>): void {
    const unused = this.#sql
      .exec<{ dimension: number; value: string; id: number }>('SELECT dimension, value, id FROM rollup_values')
      .toArray()
      .filter(({ id }) => !live.has(id));
    for (const { dimension, value } of unused) {
      this.#sql.exec('DELETE FROM rollup_values WHERE dimension = ? AND value = ?', dimension, value);
    }
    const firsts = this.#sql.exec<{ first: number }>('SELECT first FROM rollup_texts').toArray();
    for (const { first } of firsts) this.#dropFromPack(first, live);
    this.forget();
  }

  #dropFromPack(first: number, live: ReadonlySet<number>): void {
    const { texts } = this.#sql.exec<Pack>('SELECT first, texts FROM rollup_texts WHERE first = ?', first).one();
    const before = JSON.parse(texts) as PackedTexts;
    const after = before.map((text, offset) => (live.has(first + offset) ? text : null));
    if (after.every((text) => text === null)) {
      this.#sql.exec('DELETE FROM rollup_texts WHERE first = ?', first);
    } else if (after.some((text, offset) => text !== before[offset])) {
      this.#sql.exec('UPDATE rollup_texts SET texts = ? WHERE first = ?', JSON.stringify(after), first);
    }
  }

  /** Clears what is in memory; called when a transaction failed. */
  forget(): void {
    this.#ids.clear();
    this.#whole.clear();
    this.#unwritten = [];
    this.#nextId = this.#afterLast();
  }

  #afterLast(): number {
    const [last] = this.#sql.exec<Pack>('SELECT first, texts FROM rollup_texts ORDER BY first DESC LIMIT 1');
    return last ? last.first + (JSON.parse(last.texts) as PackedTexts).length : 1;
  }

  #remember(dimension: number, value: string, id: number): void {
    if (this.#ids.size >= CACHED_IDS_MAX) this.#ids.clear();
    this.#ids.set(`${dimension} ${value}`, id);
  }
}

function* entriesOf({ first, texts }: Pack): Generator<[id: number, text: string]> {
  const packed = JSON.parse(texts) as PackedTexts;
  for (let offset = 0; offset < packed.length; offset++) {
    const text = packed[offset];
    if (typeof text === 'string') yield [first + offset, text];
  }
}
