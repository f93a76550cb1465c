/**
 * The wrangler configuration of one deployment, written beside the tracked files and never into them. It is the tracked
 * file with what this account has: ids, names, addresses. So a variable that an operator adds there is deployed too.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { EDGE_CONFIG } from '../edge-worker.ts';
import { OperatorError } from '../failure.ts';
import { SERVICE_CONFIG } from '../service-worker.ts';
import { parseWranglerFile } from '../worker-config.ts';
import { edgeNameOf, type Names } from './names.ts';
import type { Storage } from './storage.ts';
import { routePattern, type Route, type Zone } from './zone.ts';

export interface WorkerFile {
  name: string;
  path: string;
  /** Of the configuration and the sources. It changes with whatever a deployment would change. */
  print: string;
}

type Config = Record<string, unknown>;

/** Values that differ between deployments, by the binding that has them. */
export function serviceFile(names: Names, zone: Zone, serviceHost: string, storage: Storage): WorkerFile {
  const config = tracked(SERVICE_CONFIG);
  const queues = config['queues'] as { consumers: Config[] };
  const nameOfQueue: Record<string, string> = {
    'gatehouse-verdicts': names.queues.verdicts,
    'gatehouse-verdicts-dead': names.queues.dead,
  };
  return written(names, `${names.service}.json`, {
    ...config,
    name: names.service,
    account_id: zone.accountId,
    workers_dev: false,
    routes: [{ pattern: serviceHost, custom_domain: true, zone_id: zone.id }],
    vars: { ...(config['vars'] as Config), SERVICE_URL: `https://${serviceHost}` },
    d1_databases: [
      { ...entry(config, 'd1_databases', 'DB'), database_name: names.database, database_id: storage.databaseId },
    ],
    r2_buckets: [
      { ...entry(config, 'r2_buckets', 'RULESETS'), bucket_name: names.buckets.rulesets },
      { ...entry(config, 'r2_buckets', 'SEGMENTS'), bucket_name: names.buckets.segments },
    ],
    queues: {
      ...queues,
      consumers: queues.consumers.map((consumer) => ({
        ...consumer,
        queue: renamed(nameOfQueue, consumer['queue']),
        ...(consumer['dead_letter_queue'] === undefined
          ? {}
          : { dead_letter_queue: renamed(nameOfQueue, consumer['dead_letter_queue']) }),
      })),
    },
  });
}

/** `routes` are those of the zone: an upload ends every route of the Worker that its file does not name. */
export function edgeFile(
  names: Names,
  zone: Zone,
  host: string,
  serviceUrl: string,
  storage: Storage,
  routes: readonly Route[],
): WorkerFile {
  const config = tracked(EDGE_CONFIG);
  const name = edgeNameOf(names, host);
  const own = routePattern(host);
  const added = routes.flatMap(({ pattern, script }) => (script === name && pattern !== own ? [pattern] : []));
  return written(names, `${name}.json`, {
    ...config,
    name,
    account_id: zone.accountId,
    routes: [own, ...new Set(added.toSorted())].map((pattern) => ({ pattern, zone_id: zone.id })),
    vars: { ...(config['vars'] as Config), SERVICE_URL: serviceUrl, ORIGIN_URL: 'zone' },
    services: [{ ...entry(config, 'services', 'SERVICE'), service: names.service }],
    kv_namespaces: [{ ...entry(config, 'kv_namespaces', 'GATE_KV'), id: storage.kvId }],
    queues: { producers: [{ binding: 'VERDICT_QUEUE', queue: names.queues.verdicts }] },
  });
}

function tracked(path: string): Config {
  if (!existsSync(path)) throw new OperatorError(`${path} is not here. Run the command in the root of the checkout.`);
  return parseWranglerFile(path);
}

function entry(config: Config, list: string, binding: string): Config {
  const found = ((config[list] ?? []) as Config[]).find((one) => one['binding'] === binding);
  if (found === undefined)
    throw new OperatorError(`The wrangler file has no ${binding} in ${list}. Restore the tracked file.`);
  return found;
}

function renamed(names: Record<string, string>, queue: unknown): string {
  const name = names[String(queue)];
  if (name === undefined)
    throw new OperatorError(`${SERVICE_CONFIG} has the queue ${String(queue)}, which a deployment does not create.`);
  return name;
}

/** Wrangler reads paths relative to its file. */
function written(names: Names, fileName: string, config: Config): WorkerFile {
  const dir = names.folder;
  const fromHere = (path: unknown) => relative(dir, resolve(String(path)));
  const assets = config['assets'] as { directory?: string } | undefined;
  const text = `${JSON.stringify(
    {
      ...config,
      main: fromHere(config['main']),
      ...(assets?.directory === undefined ? {} : { assets: { ...assets, directory: fromHere(assets.directory) } }),
      ...(config['d1_databases'] === undefined
        ? {}
        : {
            d1_databases: (config['d1_databases'] as Config[]).map((one) => ({
              ...one,
              migrations_dir: fromHere(one['migrations_dir']),
            })),
          }),
    },
    null,
    2,
  )}\n`;
  const path = join(dir, fileName);
  try {
    mkdirSync(dir, { recursive: true });
    // The service also works without its documentation.
    if (assets?.directory !== undefined) mkdirSync(resolve(assets.directory), { recursive: true });
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  } catch {
    throw new OperatorError(
      `${dir} cannot be written. Correct the permissions of the checkout, and run the command again.`,
    );
  }
  return { name: String(config['name']), path, print: printOf(text) };
}

/** Changes with the configuration, any source file, and the versions of dependencies. */
function printOf(config: string): string {
  sourcesPrint ??= printOfSources();
  return createHash('sha256').update(config).update(sourcesPrint).digest('hex').slice(0, 32);
}

let sourcesPrint: string | undefined;

function printOfSources(): string {
  const hash = createHash('sha256');
  const files = readdirSync('src', { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && /\.(?:tsx?|json|css|sql)$/.test(file.name))
    .map((file) => join(file.parentPath, file.name))
    .filter((file) => !file.startsWith(join('src', 'cli')) && !file.includes('.generated.'));
  // The last is the state of the documentation that the service carries.
  const others = ['package-lock.json', 'dist/site.inputs'].filter((file) => existsSync(file));
  for (const file of [...files.toSorted(), ...others]) hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
}
