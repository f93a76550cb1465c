/**
 * Everything that a deployment finds before its first change, and a deployment that is there, for the commands that need
 * no site. It reads only. Whatever makes the deployment impossible is refused here, so that nothing is half done because
 * of a wrong zone, a taken route or a wrong key.
 */
import { readdirSync } from 'node:fs';
import type { D1Database } from '@cloudflare/workers-types';
import * as z from 'zod/mini';
import { GATEHOUSE_VERSION } from '../../contract/version.ts';
import { OperatorError } from '../failure.ts';
import { MIGRATIONS_DIR } from '../migrations.ts';
import { type CloudflareApi, cloudflareApi, restDatabase } from './cloudflare-api.ts';
import { defaultKeyFile, masterKeyOf, remembered } from './memory.ts';
import { edgeNameOf, namesOf, type Names } from './names.ts';
import { recorded, type Recorded } from './record.ts';
import { resourcesOf, type Resources } from './storage.ts';
import type { World } from './world.ts';
import { loginToken, onlyAccount } from './wrangler.ts';
import {
  checkProxied,
  checkRoute,
  checkServiceHost,
  checkServiceRoute,
  domainsOf,
  routesOf,
  type Zone,
  zoneOf,
} from './zone.ts';

export interface Survey {
  zone: Zone;
  serviceZone: Zone;
  serviceHost: string;
  edge: string;
  resources: Resources;
  /** Ids of what is there, by its name in `Resources`. */
  ids: Readonly<Record<keyof Resources, string | null>>;
  recorded: Recorded;
  keyFile: string;
  /** `null`: it will be made. */
  masterKey: string | null;
  hasService: boolean;
  hasDomain: boolean;
  hasEdge: boolean;
  hasRoute: boolean;
  warnings: string[];
}

const EMPTY: Recorded = { deployment: null, edges: [], migrations: [], rootKeySealed: null };

export async function survey(
  api: CloudflareApi,
  world: World,
  names: Names,
  options: { site: string; serviceHost: string | undefined; masterKeyFile: string | undefined },
): Promise<Survey> {
  const zone = await zoneOf(api, options.site, '--site');
  const { accountId } = zone;
  const resources = resourcesOf(api, accountId, names);
  const ids = await foundIds(resources);
  const known = ids.database === null ? EMPTY : await recorded(restDatabase(api, accountId, ids.database));
  refuseNewer(known);
  const hasService = (await secretsOf(api, accountId, names.service)) !== null;
  if (hasService && ids.database === null)
    throw new OperatorError(
      `The account has a Worker ${names.service}, but no database ${names.database}: it is not a deployment of this command. Choose another name with --name.`,
    );
  const runsAt = await servedHost(api, accountId, names, known);
  const serviceHost = options.serviceHost ?? runsAt ?? `gatehouse.${zone.name}`;
  if (runsAt !== null && serviceHost !== runsAt)
    throw new OperatorError(
      `The service runs at ${runsAt}, and its credentials name that host. Leave --service-host out, or make another deployment with --name.`,
    );
  if (serviceHost === options.site)
    throw new OperatorError('The service needs a host of its own. Choose another one than --site with --service-host.');
  const serviceZone = await zoneOf(api, serviceHost, '--service-host');
  if (serviceZone.accountId !== accountId)
    throw new OperatorError(
      `${serviceHost} is in another account than ${options.site}, and both Workers must be in one. Choose a host of the site's account with --service-host.`,
    );
  const domain = await checkServiceHost(api, world, serviceZone, serviceHost, names.service);
  const edge = edgeNameOf(names, options.site);
  const routes = await routesOf(api, zone.id);
  const around = checkRoute(routes, options.site, edge);
  const serviceRoutes = serviceZone.id === zone.id ? routes : await routesOf(api, serviceZone.id);
  const hiding = checkServiceRoute(serviceRoutes, serviceHost, names.service, domain.isOwn);
  const notChecked = await checkProxied(api, zone, options.site);
  const keyFile =
    options.masterKeyFile ?? remembered(names)?.masterKeyFile ?? defaultKeyFile(names.deployment, accountId);
  return {
    zone,
    serviceZone,
    serviceHost,
    edge,
    resources,
    ids,
    recorded: known,
    keyFile,
    masterKey: (await masterKeyOf(keyFile, known.rootKeySealed, false))?.key ?? null,
    hasService,
    hasDomain: domain.isOwn,
    hasEdge: (await secretsOf(api, accountId, edge)) !== null,
    hasRoute: routes.some(({ script }) => script === edge),
    warnings: [...[domain.warning, notChecked].filter((warning) => warning !== null), ...around, ...hiding],
  };
}

export async function foundIds(resources: Resources): Promise<Record<keyof Resources, string | null>> {
  const found: Partial<Record<keyof Resources, string | null>> = {};
  for (const key of Object.keys(resources) as (keyof Resources)[]) found[key] = await resources[key].find();
  return found as Record<keyof Resources, string | null>;
}

/** Names of a Worker's secrets; `null` where the Worker does not exist. */
export async function secretsOf(api: CloudflareApi, accountId: string, worker: string): Promise<string[] | null> {
  const path = `/accounts/${accountId}/workers/scripts/${worker}/secrets`;
  const found = await api.find(z.nullable(z.array(z.object({ name: z.string() }))), path);
  return found?.map(({ name }) => name) ?? null;
}

/** @throws OperatorError when a newer version of this command has deployed. */
export function refuseNewer({ deployment, migrations }: Recorded): void {
  const own = GATEHOUSE_VERSION;
  const running = deployment?.version ?? null;
  const here = new Set(readdirSync(MIGRATIONS_DIR));
  const unknown = migrations.find((name) => !here.has(name));
  if ((running !== null && isNewer(running, own)) || unknown !== undefined)
    throw new OperatorError(
      `The deployed service is newer than this checkout (${running ?? unknown ?? ''} instead of ${own}). Update the checkout with "git pull" and "npm ci", and run the command again.`,
    );
}

const parts = (text: string): number[] => text.split(/[.-]/).map((part) => Number.parseInt(part, 10) || 0);

function isNewer(one: string, other: string): boolean {
  const [left, right] = [parts(one), parts(other)];
  for (let at = 0; at < 3; at += 1) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

/** Where the service is reached: as recorded, or as the platform has it for a service that was deployed by hand. */
async function servedHost(
  api: CloudflareApi,
  accountId: string,
  names: Names,
  known: Recorded,
): Promise<string | null> {
  const url = known.deployment?.service_url;
  if (url) return new URL(url).host;
  const domains = await domainsOf(api, accountId, `service=${names.service}`);
  return domains.find(({ service }) => service === names.service)?.hostname ?? null;
}

/** A deployment that is there, for the commands that need no site: its account, storage, records and key. */
export interface Existing {
  api: CloudflareApi;
  names: Names;
  accountId: string;
  resources: Resources;
  ids: Readonly<Record<keyof Resources, string | null>>;
  /** `null`: the database is gone, for example after a destruction that was interrupted. */
  database: D1Database | null;
  recorded: Recorded | null;
}

export async function existing(name: string, folder: string): Promise<Existing> {
  const names = namesOf(name, folder);
  const api = cloudflareApi(await loginToken());
  const accountId = process.env['CLOUDFLARE_ACCOUNT_ID'] || (remembered(names)?.accountId ?? (await onlyAccount(api)));
  const resources = resourcesOf(api, accountId, names);
  const ids = await foundIds(resources);
  const database = ids.database === null ? null : restDatabase(api, accountId, ids.database);
  return {
    api,
    names,
    accountId,
    resources,
    ids,
    database,
    recorded: database === null ? null : await recorded(database),
  };
}

/** @throws OperatorError where nothing was deployed under this name. */
export function deployed(there: Existing): { database: D1Database; recorded: Recorded; serviceUrl: string } {
  const { database, recorded: known, names, accountId } = there;
  const serviceUrl = known?.deployment?.service_url;
  if (database === null || known === null || serviceUrl == null)
    throw new OperatorError(
      `The account ${accountId} has no complete deployment ${names.deployment}. Deploy it with "npm run deploy -- --site HOST", or choose another one with --name.`,
    );
  return { database, recorded: known, serviceUrl };
}

/** @throws OperatorError where the key is missing or another one. */
export async function keyOfExisting(there: Existing, file: string | undefined): Promise<string> {
  const path =
    file ?? remembered(there.names)?.masterKeyFile ?? defaultKeyFile(there.names.deployment, there.accountId);
  const found = await masterKeyOf(path, there.recorded?.rootKeySealed ?? null, false);
  if (found === null)
    throw new OperatorError(`There is no master key in ${path}. Name its file with --master-key-file.`);
  return found.key;
}
