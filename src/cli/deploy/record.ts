/**
 * What the deployment knows about itself, in two tables of its own database (docs/storage-schema.md): which version runs,
 * which edges there are, and who deploys now. The database is the one place that all machines see, so a lost state file
 * loses nothing. The tables exist before the first migration, because the lease is taken before the first change.
 */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { D1Database } from '@cloudflare/workers-types';
import { OperatorError } from '../failure.ts';
import { undoneWhenInterrupted } from './interruption.ts';

/** A deployer that was killed blocks others for this long. */
const LEASE_SECONDS = 120;
const RENEW_EVERY_MS = 30_000;
const RELEASE_ATTEMPTS = 3;

const TABLES = [
  `CREATE TABLE IF NOT EXISTS deployment (
     id INTEGER PRIMARY KEY CHECK (id = 1), holder TEXT NOT NULL, held_until INTEGER NOT NULL,
     version TEXT, service_url TEXT, service_print TEXT)`,
  `CREATE TABLE IF NOT EXISTS deployment_edges (
     host TEXT PRIMARY KEY, worker TEXT NOT NULL, zone_id TEXT NOT NULL, instance_id TEXT NOT NULL, jti TEXT NOT NULL,
     jwt_sealed TEXT NOT NULL, jwt_expires_at INTEGER NOT NULL, former_jti TEXT, edge_print TEXT)`,
];

export interface DeploymentRow {
  holder: string;
  held_until: number;
  version: string | null;
  service_url: string | null;
  service_print: string | null;
}

export interface EdgeRow {
  host: string;
  worker: string;
  zone_id: string;
  instance_id: string;
  jti: string;
  jwt_sealed: string;
  /** Epoch milliseconds. */
  jwt_expires_at: number;
  former_jti: string | null;
  edge_print: string | null;
}

export interface Recorded {
  deployment: DeploymentRow | null;
  edges: EdgeRow[];
  /** Names of the migrations that the database has. */
  migrations: string[];
  /** The sealed root key; `null` where no key was ever used. */
  rootKeySealed: string | null;
}

/** Reads only, and only tables that exist: a database may be new, or from before this command. */
export async function recorded(database: D1Database): Promise<Recorded> {
  const { results } = await database
    .prepare(
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name IN ('deployment', 'deployment_edges', 'd1_migrations', 'root_key')`,
    )
    .all<{ name: string }>();
  const tables = new Set(results.map(({ name }) => name));
  const rows = async <T>(table: string, sql: string): Promise<T[]> =>
    tables.has(table) ? (await database.prepare(sql).all<T>()).results : [];
  const [deployment] = await rows<DeploymentRow>('deployment', 'SELECT * FROM deployment WHERE id = 1');
  const [root] = await rows<{ sealed: string }>('root_key', 'SELECT sealed FROM root_key WHERE id = 1');
  return {
    deployment: deployment ?? null,
    edges: await rows<EdgeRow>('deployment_edges', 'SELECT * FROM deployment_edges ORDER BY host'),
    migrations: (await rows<{ name: string }>('d1_migrations', 'SELECT name FROM d1_migrations')).map(
      ({ name }) => name,
    ),
    rootKeySealed: root?.sealed ?? null,
  };
}

export interface Lease {
  /** @throws OperatorError when somebody else took the lease over. */
  check(): Promise<void>;
  release(): Promise<void>;
}

/** @throws OperatorError while another deployer holds the lease. `who` is shown to them. */
export async function takeLease(database: D1Database, who: string): Promise<Lease> {
  const holder = `${who} on ${hostname()}, run ${randomUUID().slice(0, 8)}`;
  const take = async (): Promise<boolean> => {
    // The database's clock, because two machines may differ.
    const { meta } = await database
      .prepare(
        `INSERT INTO deployment (id, holder, held_until) VALUES (1, ?1, unixepoch() + ?2)
         ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, held_until = excluded.held_until
           WHERE held_until <= unixepoch() OR holder = excluded.holder`,
      )
      .bind(holder, LEASE_SECONDS)
      .run();
    return meta.changes === 1;
  };
  const release = async (): Promise<void> => {
    clearInterval(timer);
    released?.();
    const free = database.prepare('UPDATE deployment SET held_until = 0 WHERE holder = ?').bind(holder);
    // Repeated, because the next run would wait two minutes for a lease that nobody holds.
    for (let attempt = 1; ; attempt += 1) {
      try {
        await free.run();
        return;
      } catch (error) {
        if (attempt === RELEASE_ATTEMPTS) throw error;
      }
    }
  };
  let timer: NodeJS.Timeout | undefined;
  let released: (() => void) | undefined;
  let isLost = false;
  released = undoneWhenInterrupted(release);
  try {
    await database.batch(TABLES.map((sql) => database.prepare(sql)));
    if (!(await take())) throw busy((await recorded(database)).deployment);
  } catch (error) {
    // The platform may have given the lease although no answer came.
    await release().catch(() => {});
    throw error;
  }
  timer = setInterval(() => {
    take().then(
      (kept) => (isLost ||= !kept),
      // The next call of the deployment meets the same fault, and reports it.
      () => {},
    );
  }, RENEW_EVERY_MS);
  timer.unref();
  return {
    check: async () => {
      isLost ||= !(await take());
      if (isLost)
        throw new OperatorError(
          'Another deployment has taken over, because this one was silent for two minutes. Run the command again when it has ended.',
        );
    },
    release,
  };
}

function busy(row: DeploymentRow | null): OperatorError {
  const until = new Date((row?.held_until ?? 0) * 1000).toISOString().slice(11, 19);
  return new OperatorError(
    `Another deployment is running (${row?.holder ?? 'unknown'}). Wait until it has ended, at the latest ${until} UTC if it was killed, and run the command again.`,
  );
}

/** Kept only after the Worker runs, so that an interrupted deployment is repeated. */
export async function recordService(
  database: D1Database,
  service: { version: string; serviceUrl: string; print: string },
): Promise<void> {
  await database
    .prepare('UPDATE deployment SET version = ?, service_url = ?, service_print = ? WHERE id = 1')
    .bind(service.version, service.serviceUrl, service.print)
    .run();
}

/** Somebody else uploads the service: what runs is not what was recorded any more. */
export async function forgetServicePrint(database: D1Database): Promise<void> {
  await database.prepare('UPDATE deployment SET service_print = NULL WHERE id = 1').run();
}

export async function recordEdge(database: D1Database, host: string, print: string): Promise<void> {
  await database.prepare('UPDATE deployment_edges SET edge_print = ? WHERE host = ?').bind(print, host).run();
}
