/** Deploys the two Workers, each only if something differs from what runs. `deploy` and `upgrade` both use it. */
import * as z from 'zod/mini';
import { GATEHOUSE_VERSION } from '../../contract/version.ts';
import type { StoreEnv } from '../../store/binding.ts';
import { ApiError, type CloudflareApi } from './cloudflare-api.ts';
import { edgeNameOf, type Names } from './names.ts';
import { recordEdge, recordService, type EdgeRow, type Lease } from './record.ts';
import { endFormerJwt, keptClientJwt, newClientJwt } from './site-account.ts';
import type { Storage } from './storage.ts';
import { secretsOf } from './survey.ts';
import { edgeFile, serviceFile } from './worker-files.ts';
import type { World } from './world.ts';
import { checkRoute, checkServiceHost, domainsOf, routePattern, routesOf, type Route, type Zone } from './zone.ts';

export type Deployed = 'found' | 'created' | 'deployed';

/** What every step of a run has at hand. */
export interface Deployment {
  api: CloudflareApi;
  world: World;
  names: Names;
  storage: Storage;
  env: StoreEnv;
  lease: Lease;
  serviceUrl: string;
}

export async function deployService(
  run: Deployment,
  zone: Zone,
  runs: { version: string | null; service_print: string | null } | null,
): Promise<Deployed> {
  const { api, names, env } = run;
  const host = new URL(run.serviceUrl).host;
  const worker = serviceFile(names, zone, host, run.storage);
  const secrets = await secretsOf(api, zone.accountId, names.service);
  const domains = await domainsOf(api, zone.accountId, `service=${names.service}`);
  const hasKey = secrets?.includes('MASTER_KEY') ?? false;
  const isCurrent = runs?.service_print === worker.print && runs.version === GATEHOUSE_VERSION;
  const hasDomain = domains.some(({ hostname, service }) => hostname === host && service === names.service);
  if (hasKey && isCurrent && hasDomain) return 'found';
  // Again, because a run takes minutes.
  if (!hasDomain) await checkServiceHost(api, run.world, zone, host, names.service);
  // A key that is there stays: during a rotation it is newer than the operator's file. The key of a service that this
  // command never deployed may be another one than the database was sealed with just now.
  const isOwn = runs?.version != null;
  await run.world.upload({
    worker,
    accountId: zone.accountId,
    secrets: hasKey && isOwn ? {} : { MASTER_KEY: env.MASTER_KEY },
  });
  await recordService(env.DB, { version: GATEHOUSE_VERSION, serviceUrl: run.serviceUrl, print: worker.print });
  return 'deployed';
}

export async function deployEdgeWorker(
  run: Deployment,
  zone: Zone,
  host: string,
  instanceId: string,
  row: EdgeRow | undefined,
): Promise<Deployed> {
  const { api, names, env, serviceUrl } = run;
  const name = edgeNameOf(names, host);
  const kept = await keptClientJwt(env, row, instanceId);
  const routes = await routesOf(api, zone.id);
  const worker = edgeFile(names, zone, host, serviceUrl, run.storage, routes);
  const hasRoute = routes.some(({ pattern, script }) => pattern === routePattern(host) && script === name);
  const hasSecret = (await secretsOf(api, zone.accountId, name))?.includes('CLIENT_JWT') ?? false;
  if (kept !== null && hasRoute && hasSecret && row?.edge_print === worker.print) {
    await endFormerJwt(env, host);
    return 'found';
  }
  // Again, because a run takes minutes.
  checkRoute(routes, host, name);
  const clientJwt = kept ?? (await newClientJwt(env, { host, worker: name, zoneId: zone.id, instanceId, serviceUrl }));
  await run.world.upload({ worker, accountId: zone.accountId, secrets: { CLIENT_JWT: clientJwt } });
  await recordEdge(env.DB, host, worker.print);
  await endFormerJwt(env, host);
  return 'deployed';
}

const zoneShape = z.object({ id: z.string(), name: z.string(), account: z.object({ id: z.string() }) });

/** The zone of an edge that is there, by its id; `null` where it was deleted or moved to another login. */
export async function zoneById(api: CloudflareApi, id: string): Promise<Zone | null> {
  try {
    const zone = await api.find(zoneShape, `/zones/${id}`);
    return zone === null ? null : { id: zone.id, name: zone.name, accountId: zone.account.id };
  } catch (error) {
    // The platform does not tell a zone of somebody else from one that never was.
    if (error instanceof ApiError && error.isForbidden) return null;
    throw error;
  }
}

/**
 * The routes of an edge's zone; `null` where the zone is gone. A refusal alone does not say so: the login may lack a
 * permission, and then the routes are still there.
 */
export async function routesOfEdge(api: CloudflareApi, zoneId: string): Promise<Route[] | null> {
  try {
    return await routesOf(api, zoneId);
  } catch (error) {
    const isRefusal = error instanceof ApiError && (error.status === 404 || error.isForbidden);
    if (isRefusal && (await zoneById(api, zoneId)) === null) return null;
    throw error;
  }
}
