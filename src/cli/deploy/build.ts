/**
 * `npm run deploy` in a build of the platform (Workers Builds), as after its deploy button: there is no site yet, so it
 * deploys the service alone, from `wrangler.json`. The names there may be those that the person chose in the dashboard.
 */
import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { parseJson } from '../../bytes/json.ts';
import { OperatorError } from '../failure.ts';
import { migrate } from '../migrations.ts';
import { cloudflareApi, restDatabase } from './cloudflare-api.ts';
import { DEFAULT_NAME, namesOf } from './names.ts';
import { forgetServicePrint, recorded, takeLease } from './record.ts';
import { foundOrCreated, resourcesOf } from './storage.ts';
import { refuseNewer } from './survey.ts';
import type { World } from './world.ts';
import { loginToken, onlyAccount } from './wrangler.ts';

/** Wrangler prefers it to `wrangler.toml`, and so does the platform's button. */
export const BUTTON_CONFIG = 'wrangler.json';

const config = z.object({
  name: z.string(),
  d1_databases: z.array(z.object({ database_name: z.string(), database_id: z.optional(z.string()) })),
  queues: z.object({ consumers: z.array(z.object({ queue: z.string() })) }),
});

/** @throws OperatorError when the file is not what a button leaves. */
export async function deployInBuild(world: World, path = BUTTON_CONFIG): Promise<void> {
  const parsed = config.safeParse(parseJson(readFileSync(path, 'utf8')));
  const database = parsed.success ? parsed.data.d1_databases[0] : undefined;
  const queues = parsed.success ? parsed.data.queues.consumers.map(({ queue }) => queue) : [];
  const [verdicts, dead] = queues;
  if (!parsed.success || database === undefined || verdicts === undefined || dead === undefined)
    throw new OperatorError(`${path} has no database or queues. Restore the file of the repository.`);
  world.build();
  const api = cloudflareApi(await loginToken());
  const accountId = process.env['CLOUDFLARE_ACCOUNT_ID'] || (await onlyAccount(api));
  const names = {
    ...namesOf(DEFAULT_NAME, world.folder),
    database: database.database_name,
    queues: { verdicts, dead },
  };
  const resources = resourcesOf(api, accountId, names);
  const databaseId = database.database_id ?? (await foundOrCreated(resources.database)).id;
  await foundOrCreated(resources.verdicts);
  await foundOrCreated(resources.dead);
  const d1 = restDatabase(api, accountId, databaseId);
  const known = await recorded(d1);
  refuseNewer(known);
  const serviceUrl = known.deployment?.service_url ?? null;
  const lease = await takeLease(d1, 'a build of the platform');
  try {
    const applied = await migrate(d1);
    world.say(`Database ${database.database_name}: ${applied.length} migrations applied`);
    // The next deployment then uploads its own configuration again.
    await forgetServicePrint(d1);
    await world.upload({
      worker: { name: parsed.data.name, path, print: '' },
      accountId,
      secrets: {},
      // The credentials of the gates name the address that they were issued for.
      ...(serviceUrl === null ? {} : { vars: { SERVICE_URL: serviceUrl } }),
    });
    world.say(`Service Worker ${parsed.data.name}: deployed`);
  } finally {
    await lease.release().catch(() => {});
  }
  world.say(
    'To protect a site, run "npm run deploy -- --site HOST" in a checkout, with MASTER_KEY in the environment.',
  );
}
