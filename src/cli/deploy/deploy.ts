/**
 * `npm run deploy -- --site HOST`: from a login to a protected site. It surveys first and prints the plan. Then each step
 * looks whether it is done already, and does it if not, so that an interrupted run is continued by running it again.
 */
import type { D1Database } from '@cloudflare/workers-types';
import { emailAddress } from '../../contract/management/email-address.ts';
import { rootKey } from '../../store/keys/root-key.ts';
import { CommandError } from '../command-line.ts';
import { OperatorError } from '../failure.ts';
import { migrate } from '../migrations.ts';
import { signInUrl } from '../sign-in.ts';
import { cloudflareApi, restDatabase, type CloudflareApi } from './cloudflare-api.ts';
import { defaultKeyFile, masterKeyOf, remember } from './memory.ts';
import { DEFAULT_NAME, commandOf, edgeNameOf, namesOf, siteHost, type Names } from './names.ts';
import { proven, serviceReady, withApiKey } from './proof.ts';
import { recorded, takeLease, type Lease } from './record.ts';
import {
  accountOfEdge,
  foundAccount,
  foundInstance,
  foundSite,
  newAccount,
  newInstance,
  newSite,
} from './site-account.ts';
import { foundOrCreated, resourcesOf, type Resources } from './storage.ts';
import { secretsOf, survey, type Survey } from './survey.ts';
import { deployEdgeWorker, deployService, type Deployment } from './workers.ts';
import type { World } from './world.ts';
import { loginEmail, loginToken, NotLoggedIn } from './wrangler.ts';
import { routePattern } from './zone.ts';

export interface DeployOptions {
  site: string;
  name: string;
  serviceHost: string | undefined;
  email: string | undefined;
  masterKeyFile: string | undefined;
  dryRun: boolean;
}

const STEPS = 14;

export async function deploy(options: DeployOptions, world: World): Promise<void> {
  const names = namesOf(options.name, world.folder);
  const site = siteHost('--site', options.site);
  const serviceHost = options.serviceHost === undefined ? undefined : siteHost('--service-host', options.serviceHost);
  const login = await loginToken().catch((error: unknown) => {
    if (options.dryRun && error instanceof NotLoggedIn) return null;
    throw error;
  });
  if (login === null) {
    for (const planned of planWithoutLogin(options, names, serviceHost)) world.say(planned);
    return;
  }
  const api = cloudflareApi(login);
  const seen = await survey(api, world, names, { site, serviceHost, masterKeyFile: options.masterKeyFile });
  if (seen.masterKey === null) await refuseForeignKey(api, seen, names);
  const email = ownerEmail(options.email, await loginEmail(api), seen);
  for (const planned of planOf(seen, names, site)) world.say(planned);
  if (options.dryRun) {
    world.say('Nothing was changed. Run the command without --dry-run to do it.');
    return;
  }

  world.build();
  const step = steps(world);
  const { accountId } = seen.zone;
  const databaseId = await made(seen.resources, 'database', step);
  const database = restDatabase(api, accountId, databaseId);
  const lease = await takeLease(database, email ?? 'a token');
  try {
    for (const key of ['rulesets', 'segments', 'verdicts', 'dead'] as const) {
      await lease.check();
      await made(seen.resources, key, step);
    }
    const storage = { databaseId, kvId: await made(seen.resources, 'kv', step) };
    const masterKey = await keyOf(seen, database, lease, step);
    const serviceUrl = `https://${seen.serviceHost}`;
    const env = { DB: database, MASTER_KEY: masterKey.key };
    const run: Deployment = { api, world, names, storage, env, lease, serviceUrl };
    remember(names, { accountId, masterKeyFile: masterKey.file, serviceUrl });

    const applied = await migrate(database);
    await rootKey(env);
    step('Database tables', applied.length === 0 ? 'found' : `${applied.length} migrations applied`);
    await lease.check();
    step(`Service Worker ${names.service}`, await deployService(run, seen.serviceZone, seen.recorded.deployment));
    await serviceReady(serviceUrl, world);
    step(`Service at ${serviceUrl}`, 'answers');
    const link = await protect(run, seen, site, { email, isGiven: options.email !== undefined }, step);
    world.say('');
    for (const last of farewell(site, names, masterKey.file, world.isTerminal ? link.url : null, link.email))
      world.say(last);
  } finally {
    await lease.release().catch(() => {});
  }
}

type Step = (title: string, outcome: string) => void;

/** Account, site, instance, edge and proof. @returns the console's link. */
async function protect(
  run: Deployment,
  seen: Survey,
  site: string,
  { email, isGiven }: { email: string | null; isGiven: boolean },
  step: Step,
): Promise<{ url: string; email: string }> {
  const { env, serviceUrl, lease, world } = run;
  const { edges } = await recorded(env.DB);
  const row = edges.find(({ host }) => host === site);
  const existing = (await accountOfEdge(env, row, isGiven ? email : null)) ?? (await foundAccount(env, email, isGiven));
  if (existing === null && email === null) throw noEmail();
  const account = existing ?? (await newAccount(env, email ?? ''));
  step(`Account of ${account.ownerEmail}`, existing === null ? 'created' : 'found');

  await lease.check();
  let instance = await foundInstance(env, account.id, site);
  const isNew = instance === null;
  const siteKey =
    instance?.globalSiteKey ??
    ((await foundSite(env, account.id, site)) ?? (await newSite(env, account, site))).siteKey;
  instance ??= await newInstance(env, account.id, siteKey, site);
  step(`Site ${site}`, isNew ? 'created, in monitor mode' : `found, ${modeOf(instance)}`);

  await lease.check();
  step(
    `Edge Worker ${seen.edge} on ${routePattern(site)}`,
    await deployEdgeWorker(run, seen.zone, site, instance.id, row),
  );

  const permissions = { Protect: ['readProtect'] as const };
  const isCounted = instance.allowVerdicts === 'counts';
  const reference = await withApiKey(env, { accountId: account.id, serviceUrl, siteKey, permissions }, (target) =>
    proven(site, target, world, isCounted),
  );
  step(
    `A request for https://${site}/`,
    isCounted ? `passed the gate as ${reference}` : `passed the gate and is in the log as ${reference}`,
  );
  return signInUrl(env, serviceUrl, { email: account.ownerEmail, accountId: account.id }, Date.now());
}

export function modeOf(policy: { monitor: boolean; rollout?: number }): string {
  return policy.monitor ? 'in monitor mode' : 'enforcing';
}

/** Asked before anything is made, because the first account needs it. */
function ownerEmail(given: string | undefined, ofLogin: string | null, seen: Survey): string | null {
  const email = given ?? ofLogin;
  if (email !== null && !emailAddress.safeParse(email).success)
    throw new CommandError(`${email} is not an email address. Use one such as --email owner@example.com.`);
  if (email === null && seen.recorded.deployment?.version == null) throw noEmail();
  return email;
}

function noEmail(): CommandError {
  return new CommandError(
    'The token does not say whose it is. Add the owner of the new account: --email owner@example.com.',
  );
}

/**
 * A service that was deployed by the button, and never used, has a key that the database does not show. A second key
 * would lock one of them out.
 */
async function refuseForeignKey(api: CloudflareApi, seen: Survey, names: Names): Promise<void> {
  const secrets = await secretsOf(api, seen.zone.accountId, names.service);
  if (secrets?.includes('MASTER_KEY'))
    throw new OperatorError(
      `The Worker ${names.service} has a master key already, and it is not in ${seen.keyFile}. Set the variable MASTER_KEY to that key, or name its file with --master-key-file, and run the command again.`,
    );
}

async function made(resources: Resources, key: keyof Resources, step: Step): Promise<string> {
  const { id, created, note } = await foundOrCreated(resources[key]);
  step(resources[key].title, `${created ? 'created' : 'found'}${note === null ? '' : `, ${note}`}`);
  return id;
}

/** Under the lease, because two deployers must not make two keys. */
async function keyOf(seen: Survey, database: D1Database, lease: Lease, step: Step) {
  await lease.check();
  const { rootKeySealed } = await recorded(database);
  const key = await masterKeyOf(seen.keyFile, rootKeySealed, true);
  if (key === null) throw new OperatorError('There is no master key. Run the command again.');
  const place = key.file === null ? 'from the variable MASTER_KEY' : `in ${key.file}`;
  step('Master key', key.created ? `created ${place}. Keep a copy: there is no second one` : `found ${place}`);
  return key;
}

export function steps(world: World, of = STEPS): Step {
  let at = 0;
  return (title, outcome) => {
    at += 1;
    world.say(`[${String(at).padStart(String(of).length)}/${of}] ${title}: ${outcome}`);
  };
}

interface Parts extends Pick<Survey, 'resources' | 'serviceHost' | 'edge' | 'keyFile'> {
  names: Names;
  site: string;
}

/** What a deployment is made of, in the order in which it is made. */
function partsOf({ resources, serviceHost, edge, keyFile, names, site }: Parts) {
  return {
    ...(Object.fromEntries(Object.entries(resources).map(([key, { title }]) => [key, title])) as Record<
      keyof Resources,
      string
    >),
    masterKey: process.env['MASTER_KEY'] ? 'master key in the variable MASTER_KEY' : `master key in ${keyFile}`,
    service: `Worker ${names.service}, deployed if it differs`,
    domain: `its domain ${serviceHost}`,
    site: `account, site, instance and credential of ${site}; a new instance only monitors`,
    edge: `Worker ${edge}, deployed if it differs`,
    route: `its route ${routePattern(site)}, with the zone's own origin`,
  };
}

function planOf(seen: Survey, names: Names, site: string): string[] {
  const isThere: Record<string, boolean> = {
    ...Object.fromEntries(Object.entries(seen.ids).map(([key, id]) => [key, id !== null])),
    masterKey: seen.masterKey !== null,
    service: seen.hasService,
    domain: seen.hasDomain,
    site: seen.recorded.edges.some(({ host }) => host === site),
    edge: seen.hasEdge,
    route: seen.hasRoute,
  };
  return [
    `Plan for ${site} in the zone ${seen.zone.name}, account ${seen.zone.accountId}:`,
    ...Object.entries(partsOf({ ...seen, names, site })).map(
      ([part, title]) => `  ${isThere[part] ? 'keep  ' : 'create'}  ${title}`,
    ),
    ...seen.warnings.map((warning) => `Note: ${warning}`),
    '',
  ];
}

/** The plan of a person who has no login yet: it says what the account would be asked, and asks nothing. */
function planWithoutLogin(
  { site, masterKeyFile }: DeployOptions,
  names: Names,
  serviceHost = 'gatehouse.ZONE',
): string[] {
  const parts = partsOf({
    resources: resourcesOf(cloudflareApi(''), 'ACCOUNT', names),
    serviceHost,
    edge: edgeNameOf(names, site),
    keyFile: masterKeyFile ?? defaultKeyFile(names.deployment, 'ACCOUNT'),
    names,
    site,
  });
  return [
    `Plan for ${site}. You are not logged in to Cloudflare, so nothing is looked up at your account. With a login, the command would:`,
    `  look up         the ZONE of ${site}, its ACCOUNT, its routes and the DNS record of ${site}`,
    ...Object.values(parts).map((title) => `  find or create  ${title}`),
    '',
    'Nothing was changed. For a plan that says which of these are there, run "npx wrangler login" first, or set CLOUDFLARE_API_TOKEN.',
  ];
}

function farewell(site: string, names: Names, keyFile: string | null, link: string | null, email: string): string[] {
  const variable = names.deployment === DEFAULT_NAME ? '' : `GATEHOUSE_DEPLOYMENT=${names.deployment} `;
  return [
    `${site} is behind the gate, which records and enforces nothing yet.`,
    ...(keyFile === null
      ? ['Keep the variable MASTER_KEY in a safe place. Every secret of the deployment depends on it.']
      : [`Copy ${keyFile} to a safe place. Every secret of the deployment depends on it.`]),
    // Anyone who reads a log could sign in with it.
    link === null
      ? `Console: make a link with "${variable}npm run -s gatehouse -- signin --remote --email ${email}".`
      : `Console, for ${email}, once and within 15 minutes: ${link}`,
    `To enforce: ${commandOf(`enforce --site ${site}`, names)}`,
  ];
}
