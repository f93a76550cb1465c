/**
 * Which edges take their rules from this book: when each last made contact, and what it has taken. Every poll is noted
 * in memory. A row is written once a minute, and at once when an edge takes newer rules, so that a restart forgets a
 * minute of polls and no version.
 */
import type { EdgeSighting, SeenEdge } from '../rpc.ts';

/** A restart makes a contact look at most so much older. */
const WRITE_EVERY_MS = 60_000;
/** Edges that a book remembers. An instance has one client JWT per edge, and one more while it is replaced. */
const EDGES_MAX = 200;

interface EdgeRow {
  jti: string;
  contact_at: number;
  rules_version: number | null;
  config_version: string | null;
  config_at: number | null;
  build: string | null;
  colo: string | null;
}

type Known = Omit<SeenEdge, 'behindSince'>;

export class EdgeContacts {
  readonly #sql: SqlStorage;
  readonly #edges = new Map<string, Known & { writtenAt: number }>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    for (const row of sql.exec<EdgeRow & Record<string, SqlStorageValue>>('SELECT * FROM edges')) {
      this.#edges.set(row.jti, { ...knownEdge(row), writtenAt: row.contact_at });
    }
  }

  /** `newest`: the version that edges may have. An edge cannot claim a later one. */
  note({ jti, at, rulesVersion, configVersion, build, colo }: EdgeSighting, newest: number): void {
    const known = this.#edges.get(jti) ?? this.#admit(jti);
    const taken = rulesVersion === undefined ? null : Math.min(rulesVersion, newest);
    const isNewer = taken !== null && taken > (known.rulesVersion ?? -1);
    known.contactAt = Math.max(known.contactAt, at);
    if (isNewer) known.rulesVersion = taken;
    if (configVersion !== undefined) Object.assign(known, { configVersion, configAt: at });
    known.build = build ?? known.build;
    known.colo = colo ?? known.colo;
    if (isNewer || known.contactAt - known.writtenAt >= WRITE_EVERY_MS) this.#write(known);
  }

  /** The one that made contact last comes first. */
  list(): Known[] {
    return [...this.#edges.values()].toSorted((a, b) => b.contactAt - a.contactAt);
  }

  /** The book was erased. */
  forget(): void {
    this.#edges.clear();
  }

  #admit(jti: string): Known & { writtenAt: number } {
    if (this.#edges.size >= EDGES_MAX) {
      const oldest = this.list().at(-1)?.jti ?? '';
      this.#edges.delete(oldest);
      this.#sql.exec('DELETE FROM edges WHERE jti = ?', oldest);
    }
    const nothing = { rulesVersion: null, configVersion: null, configAt: null, build: null, colo: null };
    const admitted = { jti, contactAt: 0, ...nothing, writtenAt: 0 };
    this.#edges.set(jti, admitted);
    return admitted;
  }

  #write(known: Known & { writtenAt: number }): void {
    this.#sql.exec(
      `INSERT OR REPLACE INTO edges (jti, contact_at, rules_version, config_version, config_at, build, colo)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      known.jti,
      known.contactAt,
      known.rulesVersion,
      known.configVersion,
      known.configAt,
      known.build,
      known.colo,
    );
    known.writtenAt = known.contactAt;
  }
}

function knownEdge(row: EdgeRow): Known {
  return {
    jti: row.jti,
    contactAt: row.contact_at,
    rulesVersion: row.rules_version,
    configVersion: row.config_version,
    configAt: row.config_at,
    build: row.build,
    colo: row.colo,
  };
}
