/** Everything that a deployment has made, counted, so that a test sees what is there twice and what is missing. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Operator } from './operator.ts';

export const keyFileOf = (operator: Operator): string =>
  join(operator.home, '.config/gatehouse/gatehouse-acc1.master-key');

const tables = {
  accounts: 'SELECT owner_email AS name FROM accounts',
  sites: 'SELECT name FROM sites WHERE active = 1',
  instances: `SELECT cname || ' monitor=' || json_extract(policy, '$.monitor') AS name FROM protect_instances WHERE active = 1`,
  credentials: 'SELECT instance_id AS name FROM client_jwts WHERE revoked_at IS NULL',
  apiKeys: 'SELECT name FROM api_keys',
  rootKeys: 'SELECT id AS name FROM root_key',
  edges: 'SELECT host AS name FROM deployment_edges WHERE former_jti IS NULL AND edge_print IS NOT NULL',
  freeLeases: 'SELECT id AS name FROM deployment WHERE held_until = 0',
} as const;

export async function rows(operator: Operator, sql: string): Promise<Record<string, unknown>[]> {
  const [answer] = await operator.platform.account.databases[0]!.engine.run([{ sql }]);
  return answer!.results;
}

export async function inventory(operator: Operator): Promise<Record<string, unknown>> {
  const { account, state } = operator.platform;
  const named: Record<string, unknown> = {};
  for (const [key, sql] of Object.entries(tables)) {
    const names = (await rows(operator, sql)).map(({ name }) => String(name));
    named[key] = key === 'credentials' ? names.length : names.toSorted();
  }
  return {
    ...named,
    databases: account.databases.map(({ name }) => name),
    buckets: [...account.buckets.keys()].toSorted(),
    queues: account.queues.map(({ queue_name: name, settings, consumers }) => [
      name,
      settings.message_retention_period,
      consumers.map(({ script }) => script),
    ]),
    namespaces: account.namespaces.map(({ title }) => title),
    workers: [...account.scripts].map(([name, { secrets }]) => [name, [...secrets.keys()]]),
    domains: account.domains.map(({ hostname, service }) => [hostname, service]),
    routes: state.zones.flatMap(({ routes }) => routes.map(({ pattern, script }) => [pattern, script])),
    hasDeployedKey: account.scripts.get('gatehouse-service')?.secrets.get('MASTER_KEY') === keptKey(operator),
    keyFileMode: (statSync(keyFileOf(operator)).mode & 0o777).toString(8),
  };
}

export function keptKey(operator: Operator): string | null {
  const path = keyFileOf(operator);
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null;
}

/** What one site's deployment leaves, whatever happened on the way. */
export const oneSite = {
  accounts: ['owner@example.com'],
  sites: ['www-example-com'],
  instances: ['www.example.com monitor=1'],
  credentials: 1,
  apiKeys: [],
  rootKeys: ['1'],
  edges: ['www.example.com'],
  freeLeases: ['1'],
  databases: ['gatehouse'],
  buckets: ['gatehouse-rulesets', 'gatehouse-segments'],
  queues: [
    ['gatehouse-verdicts', 1_209_600, ['gatehouse-service']],
    ['gatehouse-verdicts-dead', 1_209_600, ['gatehouse-service']],
  ],
  namespaces: ['gatehouse-gate'],
  workers: [
    ['gatehouse-service', ['MASTER_KEY']],
    ['gatehouse-edge-www-example-com', ['CLIENT_JWT']],
  ],
  domains: [['gatehouse.example.com', 'gatehouse-service']],
  routes: [['www.example.com/*', 'gatehouse-edge-www-example-com']],
  hasDeployedKey: true,
  keyFileMode: '600',
};
