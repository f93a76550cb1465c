/**
 * `npm run deploy -- upgrade`: tables first, then the service, then the edges of all sites, because a new edge may call
 * what only a new service has. Credentials that end soon are renewed on the way.
 */
import { instanceById } from '../../store/d1/instances.ts';
import { siteByKey } from '../../store/d1/sites.ts';
import { rootKey } from '../../store/keys/root-key.ts';
import { OperatorError } from '../failure.ts';
import { migrate } from '../migrations.ts';
import { steps } from './deploy.ts';
import { commandOf } from './names.ts';
import { proven, serviceReady, withApiKey } from './proof.ts';
import { takeLease } from './record.ts';
import { foundOrCreated } from './storage.ts';
import { deployed, existing, keyOfExisting, refuseNewer } from './survey.ts';
import { deployEdgeWorker, deployService, type Deployment, zoneById } from './workers.ts';
import type { World } from './world.ts';
import { zoneOf } from './zone.ts';

export async function upgrade(name: string, keyFile: string | undefined, world: World): Promise<void> {
  const there = await existing(name, world.folder);
  const { database, recorded, serviceUrl } = deployed(there);
  refuseNewer(recorded);
  world.build();
  const env = { DB: database, MASTER_KEY: await keyOfExisting(there, keyFile) };
  const { api, names } = there;
  const lease = await takeLease(database, 'an upgrade');
  try {
    const kv = await foundOrCreated(there.resources.kv);
    const storage = { databaseId: there.ids.database ?? '', kvId: kv.id };
    const run: Deployment = { api, world, names, storage, env, lease, serviceUrl };
    const step = steps(world, 3 + 2 * recorded.edges.length);
    const applied = await migrate(database);
    await rootKey(env);
    step('Database tables', applied.length === 0 ? 'found' : `${applied.length} migrations applied`);
    const zone = await zoneOf(api, new URL(serviceUrl).host, 'the host of the service');
    step(`Service Worker ${names.service}`, await deployService(run, zone, recorded.deployment));
    await serviceReady(serviceUrl, world);
    step(`Service at ${serviceUrl}`, 'answers');
    const proofs: (() => Promise<void>)[] = [];
    for (const edge of recorded.edges) {
      await lease.check();
      const instance = await instanceById(env, edge.instance_id);
      const site = instance === null ? null : await siteByKey(env, instance.globalSiteKey);
      if (instance === null || !instance.active || site === null) {
        step(`Site ${edge.host}`, 'has no instance any more, so its edge stays as it is');
        continue;
      }
      const edgeZone = await zoneById(api, edge.zone_id);
      if (edgeZone === null) {
        const removal = commandOf(`destroy --site ${edge.host}`, names);
        step(`Site ${edge.host}`, `its zone is gone, so its edge stays as it is. To remove it: ${removal}`);
        continue;
      }
      step(`Edge Worker ${edge.worker}`, await deployEdgeWorker(run, edgeZone, edge.host, instance.id, edge));
      const on = {
        accountId: instance.accountId,
        serviceUrl,
        siteKey: site.siteKey,
        permissions: { Protect: ['readProtect'] as const },
      };
      const isCounted = instance.allowVerdicts === 'counts';
      proofs.push(async () => {
        await lease.check();
        const reference = await withApiKey(env, on, (target) => proven(edge.host, target, world, isCounted));
        const outcome = isCounted ? `passed the gate as ${reference}` : `is in the log as ${reference}`;
        step(`A request for https://${edge.host}/`, outcome);
      });
    }
    // After all edges, so that a site that cannot be proven does not keep the others from their upgrade.
    const failed: string[] = [];
    for (const proof of proofs) {
      try {
        await proof();
      } catch (error) {
        if (!(error instanceof OperatorError)) throw error;
        failed.push(error.message);
      }
    }
    if (failed.length > 0) throw new OperatorError(failed.join('\n'));
  } finally {
    await lease.release().catch(() => {});
  }
}
