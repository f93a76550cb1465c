/**
 * `npm run deploy -- enforce --site HOST` and its way back, `monitor`. It calls the management API, so that the change is
 * checked and in the audit trail as any other.
 */
import { instanceById } from '../../store/d1/instances.ts';
import { CommandError } from '../command-line.ts';
import { OperatorError } from '../failure.ts';
import { callService } from '../management-call.ts';
import { commandOf, siteHost } from './names.ts';
import { withApiKey } from './proof.ts';
import { deployed, existing, keyOfExisting } from './survey.ts';
import type { World } from './world.ts';

/** Its own, because it takes no lease: a deployment that runs keeps its key. */
const KEY_NAME = 'npm run deploy -- enforce';

export interface EnforceOptions {
  site: string;
  name: string;
  masterKeyFile: string | undefined;
  /** Percent of the visitors, as text. */
  rollout: string | undefined;
  monitor: boolean;
}

export async function enforce(options: EnforceOptions, world: World): Promise<void> {
  const rollout = options.rollout === undefined ? 100 : Number(options.rollout);
  if (!Number.isInteger(rollout) || rollout < 1 || rollout > 100)
    throw new CommandError('--rollout is a whole number of percent from 1 to 100.');
  const there = await existing(options.name, world.folder);
  const { database, recorded, serviceUrl } = deployed(there);
  const host = siteHost('--site', options.site);
  const edge = recorded.edges.find((one) => one.host === host);
  const env = { DB: database, MASTER_KEY: await keyOfExisting(there, options.masterKeyFile) };
  const instance = edge === undefined ? null : await instanceById(env, edge.instance_id);
  if (!instance?.active)
    throw new OperatorError(
      `${host} is not a site of this deployment. Deploy it with "${commandOf(`--site ${host}`, there.names)}".`,
    );
  const change = options.monitor ? { monitor: true } : { monitor: false, rollout };
  const on = {
    accountId: instance.accountId,
    serviceUrl,
    siteKey: instance.globalSiteKey,
    permissions: { Protect: ['readProtect', 'updateProtectSettings'] as const },
  };
  await withApiKey(
    env,
    on,
    (target) =>
      // The call names an instance, and would refuse a site as well.
      callService({ ...target, siteKey: undefined }, '/protect/instances/update', { id: instance.id, ...change }),
    KEY_NAME,
  );
  world.say(
    options.monitor
      ? `${host} only records from now on, within seconds.`
      : `${host} challenges and blocks ${rollout === 100 ? 'visitors' : `${rollout} percent of its visitors`} from now on, within seconds. Back: ${commandOf(`monitor --site ${host}`, there.names)}`,
  );
}
