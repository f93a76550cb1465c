/** The stand-in's Workers: uploads, secrets, routes, domains and schedules, as `wrangler deploy` calls them. */
import { type AccountState, newId, type ScriptMetadata, type ScriptState } from './account-state.ts';
import { A, accountOf, type Handlers, Refusal, scriptOf, zoneOf } from './call.ts';

const S = `${A}/workers/scripts/([^/]+)`;

export const workerRoutes: Handlers = [
  ['GET', new RegExp(`${A}/workers/subdomain$`), () => ({ subdomain: 'example' })],
  // Every file is known already, so none is asked for.
  ['POST', new RegExp(`${S}/assets-upload-session$`), () => ({ jwt: 'e30.e30.e30', buckets: [] })],
  [
    'GET',
    new RegExp(`${A}/workers/workers/([^/]+)$`),
    (state, _, [id, name]) => {
      scriptOf(accountOf(state, id), name);
      return { id: name, name, subdomain: { enabled: false, previews_enabled: false } };
    },
  ],
  [
    'GET',
    new RegExp(`${A}/workers/services/([^/]+)$`),
    (state, _, [id, name = '']) => {
      const script = accountOf(state, id).scripts.get(name);
      if (script === undefined) throw new Refusal(404, 10090, 'This Worker does not exist on your account.');
      return {
        default_environment: {
          environment: 'production',
          script: { last_deployed_from: 'wrangler', migration_tag: script.metadata.migrations?.new_tag },
        },
      };
    },
  ],
  [
    'GET',
    new RegExp(`${S}/secrets$`),
    (state, _, [id, name]) =>
      [...scriptOf(accountOf(state, id), name).secrets.keys()].map((secret) => ({ name: secret, type: 'secret_text' })),
  ],
  [
    'GET',
    new RegExp(`${S}/deployments$`),
    (state, _, [id, name]) => {
      scriptOf(accountOf(state, id), name);
      return {
        deployments: [
          {
            id: 'd1',
            source: 'wrangler',
            strategy: 'percentage',
            author_email: 'owner@example.com',
            created_on: '2026-01-01T00:00:00Z',
            versions: [{ version_id: 'v1', percentage: 100 }],
          },
        ],
      };
    },
  ],
  ['GET', new RegExp(`${S}/settings$`), (state, _, [id, name]) => scriptOf(accountOf(state, id), name).metadata],
  [
    'GET',
    new RegExp(`${S}/versions/([^/]+)$`),
    (state, _, [id, name]) => ({
      id: 'v1',
      resources: { bindings: scriptOf(accountOf(state, id), name).metadata.bindings },
    }),
  ],
  [
    'PUT',
    new RegExp(`${S}$`),
    async (state, call, [id, name = '']) => {
      await upload(accountOf(state, id), name, call.body as FormData);
      return { id: name, etag: 'etag', deployment_id: 'd1', startup_time_ms: 10, has_preview: false };
    },
  ],
  [
    'DELETE',
    new RegExp(`${S}$`),
    (state, _, [id, name = '']) => {
      const account = accountOf(state, id);
      scriptOf(account, name);
      account.scripts.delete(name);
      for (const queue of account.queues) queue.consumers = queue.consumers.filter(({ script }) => script !== name);
      return null;
    },
  ],
  ['GET', new RegExp(`${S}/subdomain$`), () => ({ enabled: false, previews_enabled: false })],
  ['POST', new RegExp(`${S}/subdomain$`), () => ({ enabled: false, previews_enabled: false })],
  [
    'PUT',
    new RegExp(`${S}/schedules$`),
    (state, call, [id, name]) => {
      scriptOf(accountOf(state, id), name).schedules = call.body as unknown[];
      return { schedules: call.body };
    },
  ],
  [
    'PUT',
    new RegExp(`${S}/routes$`),
    (state, call, [id, name = '']) => {
      scriptOf(accountOf(state, id), name);
      const wanted = call.body as { pattern: string; zone_id: string }[];
      for (const { pattern, zone_id: zoneId } of wanted) {
        const taken = zoneOf(state, zoneId).routes.find((one) => one.pattern === pattern && one.script !== name);
        if (taken !== undefined) throw new Refusal(409, 10020, `The route ${pattern} is taken by ${taken.script}`);
      }
      for (const zone of state.zones) zone.routes = zone.routes.filter(({ script }) => script !== name);
      for (const { pattern, zone_id: zoneId } of wanted)
        zoneOf(state, zoneId).routes.push({ id: newId(), pattern, script: name });
      return wanted.map(({ pattern }) => ({ pattern }));
    },
  ],
  ['POST', new RegExp(`${S}/domains/changeset$`), () => ({ added: [], removed: [], updated: [], conflicting: [] })],
  [
    'PUT',
    new RegExp(`${S}/domains/records$`),
    (state, call, [id, name = '']) => {
      const account = accountOf(state, id);
      for (const { hostname, zone_id: zoneId } of (call.body as { origins: { hostname: string; zone_id: string }[] })
        .origins) {
        account.domains = account.domains.filter((one) => one.hostname !== hostname);
        account.domains.push({ id: newId(), hostname, service: name, zone_id: zoneId });
      }
      return [];
    },
  ],
  [
    'GET',
    new RegExp(`${A}/workers/domains$`),
    (state, { query }, [id]) =>
      accountOf(state, id)
        .domains.filter(({ hostname }) => (query.get('hostname') ?? hostname) === hostname)
        .filter(({ service }) => (query.get('service') ?? service) === service),
  ],
  [
    'DELETE',
    new RegExp(`${A}/workers/domains/([^/]+)$`),
    (state, _, [id, domain]) => {
      const account = accountOf(state, id);
      account.domains = account.domains.filter((one) => one.id !== domain);
      return null;
    },
  ],
];

async function upload(account: AccountState, name: string, form: FormData): Promise<ScriptState> {
  const metadata = JSON.parse(await textOf(form.get('metadata'))) as ScriptMetadata;
  const modules = new Map<string, Uint8Array>();
  for (const [part, value] of form) {
    if (part !== 'metadata') modules.set(part, Buffer.from(await textOf(value)));
  }
  const before = account.scripts.get(name);
  // A Worker keeps the migrations of its objects until an upload has further ones.
  metadata.migrations ??= before?.metadata.migrations;
  const secrets = new Map(before?.secrets);
  for (const binding of metadata.bindings ?? []) {
    if (binding.type === 'secret_text') secrets.set(binding.name, binding.text ?? '');
    const refused = missingBinding(account, binding);
    if (refused !== null) throw new Refusal(400, 10021, refused);
  }
  const script = {
    modules,
    metadata,
    secrets,
    schedules: before?.schedules ?? [],
    uploads: (before?.uploads ?? 0) + 1,
  };
  account.scripts.set(name, script);
  return script;
}

function textOf(value: FormDataEntryValue | null): Promise<string> {
  return typeof value === 'string' ? Promise.resolve(value) : (value?.text() ?? Promise.resolve(''));
}

/** The platform refuses a Worker that is bound to what does not exist. */
function missingBinding(account: AccountState, binding: Record<string, unknown>): string | null {
  const has: Record<string, () => boolean> = {
    d1: () => account.databases.some(({ uuid }) => uuid === (binding['id'] ?? binding['database_id'])),
    kv_namespace: () => account.namespaces.some(({ id }) => id === binding['namespace_id']),
    r2_bucket: () => account.buckets.has(String(binding['bucket_name'])),
    queue: () => account.queues.some(({ queue_name: name }) => name === binding['queue_name']),
    service: () => account.scripts.has(String(binding['service'])),
  };
  const isThere = has[String(binding['type'])]?.() ?? true;
  return !isThere ? `The binding ${String(binding['name'])} leads to nothing` : null;
}
