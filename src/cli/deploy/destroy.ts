/**
 * `npm run deploy -- destroy`: takes everything back, after asking twice. Routes go first, so that the site is served by
 * its own server from that moment on, whatever happens to the rest. Running it again continues.
 */
import { revokeClientJwt } from '../../store/d1/client-jwts.ts';
import { OperatorError } from '../failure.ts';
import type { CloudflareApi } from './cloudflare-api.ts';
import { commandOf, siteHost } from './names.ts';
import { takeLease, type EdgeRow } from './record.ts';
import { forgetEdge } from './site-account.ts';
import type { Resources } from './storage.ts';
import { existing, secretsOf, type Existing } from './survey.ts';
import { routesOfEdge } from './workers.ts';
import type { World } from './world.ts';
import { domainsOf } from './zone.ts';

export interface DestroyOptions {
  name: string;
  /** Only this site's edge. */
  site: string | undefined;
  /** The confirmation of a script: the name of what is destroyed. */
  yes: string | undefined;
}

export async function destroy(options: DestroyOptions, world: World): Promise<void> {
  const there = await existing(options.name, world.folder);
  if (options.site !== undefined) return destroySite(there, siteHost('--site', options.site), options.yes, world);
  const { names, resources, ids } = there;
  const edges = there.recorded?.edges ?? [];
  const hasService = (await secretsOf(there.api, there.accountId, names.service)) !== null;
  const left = (Object.keys(resources) as (keyof Resources)[]).filter((key) => ids[key] !== null);
  if (!hasService && left.length === 0) {
    world.say(`The account ${there.accountId} has nothing of the deployment ${names.deployment}.`);
    return;
  }
  world.say(`This will be lost in the account ${there.accountId}, and cannot be brought back:`);
  for (const { host, worker } of edges)
    world.say(`  the gate of ${host} (Worker ${worker}); its visitors reach your server directly`);
  if (hasService) world.say(`  Worker ${names.service} with all sessions, counters and rules of its Durable Objects`);
  for (const key of left) world.say(`  ${resources[key].title}${whatIsIn[key] ?? ''}`);
  await confirmed(names.deployment, options.yes, world);

  const lease = there.database === null ? null : await takeLease(there.database, 'a destruction');
  try {
    for (const edge of edges) {
      await removeEdge(there, edge);
      world.say(`Deleted: the gate of ${edge.host}`);
    }
    await removeDomains(there.api, there.accountId, names.service);
    await removeWorker(there.api, there.accountId, names.service);
    world.say(`Deleted: Worker ${names.service}`);
    // The database last: it says what else there is.
    for (const key of ['dead', 'verdicts', 'kv', 'rulesets', 'segments'] as const) await removed(there, key, world);
  } finally {
    await lease?.release().catch(() => {});
  }
  await removed(there, 'database', world);
  world.say('The file with the master key is still there. Delete it when you need no backup of the database.');
}

const whatIsIn: Partial<Record<keyof Resources, string>> = {
  database: ' with accounts, sites, rules and keys',
  segments: ' with the verdict log',
};

async function destroySite(there: Existing, host: string, yes: string | undefined, world: World): Promise<void> {
  const edge = there.recorded?.edges.find((one) => one.host === host);
  if (edge === undefined || there.database === null)
    throw new OperatorError(
      `${host} is not a site of this deployment. "${commandOf('status', there.names)}" lists its sites.`,
    );
  world.say(`The gate of ${host} (Worker ${edge.worker}) will be deleted; its visitors reach your server directly.`);
  world.say('Its settings and its log stay in the service.');
  await confirmed(host, yes, world);
  const lease = await takeLease(there.database, 'a destruction');
  try {
    await removeEdge(there, edge);
  } finally {
    await lease.release().catch(() => {});
  }
  world.say(`Deleted: the gate of ${host}`);
}

/** Asks twice. @throws OperatorError unless both answers are the name. */
async function confirmed(name: string, yes: string | undefined, world: World): Promise<void> {
  if (yes !== undefined) {
    if (yes === name) return;
    throw new OperatorError(`--yes names ${yes}, and this would destroy ${name}. Nothing was deleted.`);
  }
  const questions = [`Type ${name} to delete it: `, `Type ${name} again, to be sure: `];
  for (const question of questions) {
    const answer = await world.ask(question);
    if (answer === null)
      throw new OperatorError(`Nobody can be asked here. Add --yes ${name} to delete it. Nothing was deleted.`);
    if (answer.trim() !== name) throw new OperatorError('Nothing was deleted.');
  }
}

async function removeEdge(there: Existing, edge: EdgeRow): Promise<void> {
  const { api, accountId, database } = there;
  for (const route of (await routesOfEdge(api, edge.zone_id)) ?? []) {
    if (route.script === edge.worker) await api.remove(`/zones/${edge.zone_id}/workers/routes/${route.id}`);
  }
  await removeWorker(api, accountId, edge.worker);
  if (database === null) return;
  const env = { DB: database, MASTER_KEY: '' };
  for (const jti of [edge.jti, edge.former_jti]) {
    if (jti !== null) await revokeClientJwt(env, edge.instance_id, jti, Date.now());
  }
  await forgetEdge(database, edge.host);
}

async function removeDomains(api: CloudflareApi, accountId: string, service: string): Promise<void> {
  const domains = await domainsOf(api, accountId, `service=${service}`);
  for (const domain of domains.filter((one) => one.service === service))
    await api.remove(`/accounts/${accountId}/workers/domains/${domain.id}`);
}

/** With its queue consumers and objects. Another Worker may still be bound to it, so the deletion is forced. */
async function removeWorker(api: CloudflareApi, accountId: string, name: string): Promise<void> {
  await api.remove(`/accounts/${accountId}/workers/scripts/${name}?force=true`);
}

async function removed(there: Existing, key: keyof Resources, world: World): Promise<void> {
  const id = there.ids[key];
  if (id === null) return;
  await there.resources[key].remove(id);
  world.say(`Deleted: ${there.resources[key].title}`);
}
