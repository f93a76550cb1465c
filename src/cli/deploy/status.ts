/** `npm run deploy -- status`: what of a deployment is there, and what is not as it should be. It reads only. */
import { GATEHOUSE_VERSION } from '../../contract/version.ts';
import { instanceById } from '../../store/d1/instances.ts';
import { modeOf } from './deploy.ts';
import { commandOf } from './names.ts';
import type { EdgeRow } from './record.ts';
import type { Resources } from './storage.ts';
import { existing, secretsOf, type Existing } from './survey.ts';
import { routesOfEdge } from './workers.ts';
import type { World } from './world.ts';
import { domainsOf, routePattern } from './zone.ts';

const DAY_MS = 86_400_000;

/** @returns whether everything is as it should be. */
export async function status(name: string, world: World): Promise<boolean> {
  const there = await existing(name, world.folder);
  const { names, ids, resources, recorded } = there;
  let isWhole = true;
  const say = (isGood: boolean, line: string) => {
    isWhole &&= isGood;
    world.say(`${isGood ? 'ok      ' : 'missing '}${line}`);
  };
  for (const key of Object.keys(resources) as (keyof Resources)[]) say(ids[key] !== null, resources[key].title);
  const host = recorded?.deployment?.service_url ?? null;
  say(
    (await secretsOf(there.api, there.accountId, names.service))?.includes('MASTER_KEY') ?? false,
    `Worker ${names.service}`,
  );
  if (host !== null) {
    const domains = await domainsOf(there.api, there.accountId, `service=${names.service}`);
    say(
      domains.some(({ hostname, service }) => service === names.service && `https://${hostname}` === host),
      `domain ${host}`,
    );
    const running = recorded?.deployment?.version ?? 'none';
    world.say(
      `        version ${running}${running === GATEHOUSE_VERSION ? '' : `; this checkout has ${GATEHOUSE_VERSION}, see "${commandOf('upgrade', names)}"`}`,
    );
  }
  for (const edge of recorded?.edges ?? []) say(...(await edgeLine(there, edge)));
  if (recorded?.edges.length === 0) world.say('        no site yet');
  if (!isWhole) world.say(`Run "${commandOf('--site HOST', names)}" again to make what is missing.`);
  return isWhole;
}

async function edgeLine(there: Existing, edge: EdgeRow): Promise<[boolean, string]> {
  const routes = await routesOfEdge(there.api, edge.zone_id);
  const hasRoute =
    routes?.some(({ pattern, script }) => pattern === routePattern(edge.host) && script === edge.worker) ?? false;
  const hasSecret = (await secretsOf(there.api, there.accountId, edge.worker))?.includes('CLIENT_JWT') ?? false;
  const instance =
    there.database === null ? null : await instanceById({ DB: there.database, MASTER_KEY: '' }, edge.instance_id);
  const days = Math.floor((edge.jwt_expires_at - Date.now()) / DAY_MS);
  const facts = [
    routes === null ? 'its zone is gone' : hasRoute ? null : 'no route',
    hasSecret ? null : 'no Worker',
    instance?.active ? modeOf(instance) : 'no instance',
    `credential ends in ${days} days`,
  ];
  return [
    hasRoute && hasSecret && instance?.active === true && days > 0,
    `site ${edge.host}, Worker ${edge.worker}: ${facts.filter((fact) => fact !== null).join(', ')}`,
  ];
}
