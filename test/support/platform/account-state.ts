/** What the stand-in of the platform holds: zones, DNS, storage, Workers, routes and domains of one login. */
import { randomUUID } from 'node:crypto';
import { MemoryDatabase, type PlatformDatabase } from './memory-database.ts';

export interface ZoneState {
  id: string;
  name: string;
  status: string;
  accountId: string;
  records: { type: string; name: string; proxied: boolean }[];
  /** `null`: the platform runs no Worker for these requests. */
  routes: { id: string; pattern: string; script: string | null }[];
}

export interface ScriptState {
  /** The uploaded modules, by their name. */
  modules: Map<string, Uint8Array>;
  metadata: ScriptMetadata;
  /** Values that nobody can read back. */
  secrets: Map<string, string>;
  schedules: unknown[];
  uploads: number;
}

export interface ScriptBinding {
  type: string;
  name: string;
  text?: string;
  [key: string]: unknown;
}

export interface ScriptMetadata {
  main_module: string;
  compatibility_date?: string;
  compatibility_flags?: string[];
  bindings?: ScriptBinding[];
  keep_bindings?: string[];
  migrations?: { new_tag?: string } | undefined;
}

export interface QueueState {
  queue_id: string;
  queue_name: string;
  settings: { message_retention_period?: number };
  consumers: { consumer_id: string; script: string; type: 'worker'; settings: unknown; dead_letter_queue?: string }[];
  producers: unknown[];
}

export interface DatabaseState {
  uuid: string;
  name: string;
  engine: PlatformDatabase;
}

export interface AccountState {
  id: string;
  name: string;
  databases: DatabaseState[];
  hasR2: boolean;
  buckets: Map<string, Set<string>>;
  queues: QueueState[];
  namespaces: { id: string; title: string }[];
  scripts: Map<string, ScriptState>;
  domains: { id: string; hostname: string; service: string; zone_id: string }[];
}

export interface PlatformState {
  email: string | null;
  accounts: AccountState[];
  zones: ZoneState[];
  newDatabase: () => PlatformDatabase;
  /** What a smaller plan does with queues that keep messages for longer than a day; `null`: the plan allows it. */
  longRetention: 'refuse' | 'shorten' | null;
}

export function newState(): PlatformState {
  return {
    email: 'owner@example.com',
    accounts: [newAccountState('acc1', 'Example')],
    zones: [newZone('zone1', 'example.com', 'acc1', ['www', 'shop'])],
    newDatabase: () => new MemoryDatabase(),
    longRetention: null,
  };
}

export function newAccountState(id: string, name: string): AccountState {
  return {
    id,
    name,
    databases: [],
    hasR2: true,
    buckets: new Map(),
    queues: [],
    namespaces: [],
    scripts: new Map(),
    domains: [],
  };
}

/** Its hosts have proxied records. */
export function newZone(id: string, name: string, accountId: string, hosts: readonly string[]): ZoneState {
  const records = hosts.map((host) => ({ type: 'A', name: `${host}.${name}`, proxied: true }));
  return { id, name, status: 'active', accountId, records, routes: [] };
}

export const newId = (): string => randomUUID();
