/** The stand-in's storage: D1, R2, queues and KV, with the refusals of the platform. */
import { type AccountState, newId, type PlatformState } from './account-state.ts';
import { A, accountOf, type Handlers, missing, queueOf, Refusal } from './call.ts';
import type { Query } from './memory-database.ts';

function withR2(state: PlatformState, id: string | undefined): AccountState {
  const account = accountOf(state, id);
  if (!account.hasR2) throw new Refusal(403, 10042, 'Please enable R2 through the Cloudflare Dashboard.');
  return account;
}

const DAY_SECONDS = 86_400;

/** The setting that the account's plan lets a queue have. */
function retentionOf({ longRetention }: PlatformState, settings: { message_retention_period?: number }) {
  const wanted = settings.message_retention_period;
  if (longRetention === null || wanted === undefined || wanted <= DAY_SECONDS)
    return { message_retention_period: wanted ?? 4 * DAY_SECONDS };
  if (longRetention === 'refuse') throw new Refusal(400, 100126, 'The retention of messages is fixed on this plan');
  return { message_retention_period: DAY_SECONDS };
}

export const storageRoutes: Handlers = [
  [
    'GET',
    new RegExp(`${A}/d1/database/([^/]+)$`),
    (state, _, [id, wanted]) => {
      const found = accountOf(state, id).databases.find(({ uuid, name }) => uuid === wanted || name === wanted);
      if (found === undefined) throw new Refusal(404, 7404, 'The database does not exist');
      return { uuid: found.uuid, name: found.name };
    },
  ],
  [
    'GET',
    new RegExp(`${A}/d1/database$`),
    (state, { query }, [id]) =>
      accountOf(state, id)
        .databases.filter(({ name }) => name.includes(query.get('name') ?? ''))
        .map(({ uuid, name }) => ({ uuid, name })),
  ],
  [
    'POST',
    new RegExp(`${A}/d1/database$`),
    (state, call, [id]) => {
      const { name } = call.body as { name: string };
      const account = accountOf(state, id);
      if (account.databases.some((one) => one.name === name))
        throw new Refusal(400, 7502, 'A database with that name already exists');
      const made = { uuid: newId(), name, engine: state.newDatabase() };
      account.databases.push(made);
      return { uuid: made.uuid, name };
    },
  ],
  [
    'POST',
    new RegExp(`${A}/d1/database/([^/]+)/query$`),
    async (state, call, [id, uuid]) => {
      const database = accountOf(state, id).databases.find((one) => one.uuid === uuid);
      if (database === undefined) throw missing('The database');
      const asked = call.body as Query | { batch: Query[] };
      return database.engine.run('batch' in asked ? asked.batch : [asked]).catch((error: unknown) => {
        throw new Refusal(400, 7500, String(error));
      });
    },
  ],
  [
    'DELETE',
    new RegExp(`${A}/d1/database/([^/]+)$`),
    (state, _, [id, uuid]) => {
      const account = accountOf(state, id);
      account.databases = account.databases.filter((one) => one.uuid !== uuid);
      return null;
    },
  ],

  [
    'GET',
    new RegExp(`${A}/r2/buckets/([^/]+)$`),
    (state, _, [id, name = '']) => {
      if (!withR2(state, id).buckets.has(name)) throw new Refusal(404, 10006, 'The specified bucket does not exist.');
      return { name };
    },
  ],
  [
    'GET',
    new RegExp(`${A}/r2/buckets$`),
    (state, _, [id]) => ({ buckets: [...withR2(state, id).buckets.keys()].map((name) => ({ name })) }),
  ],
  [
    'POST',
    new RegExp(`${A}/r2/buckets$`),
    (state, call, [id]) => {
      const { name } = call.body as { name: string };
      const { buckets } = withR2(state, id);
      if (buckets.has(name))
        throw new Refusal(409, 10004, 'The bucket you tried to create already exists, and you own it.');
      buckets.set(name, new Set());
      return { name };
    },
  ],
  [
    'GET',
    new RegExp(`${A}/r2/buckets/([^/]+)/objects$`),
    (state, _, [id, name = '']) => [...(accountOf(state, id).buckets.get(name) ?? [])].map((key) => ({ key })),
  ],
  [
    'DELETE',
    new RegExp(`${A}/r2/buckets/([^/]+)/objects/(.+)$`),
    (state, _, [id, name = '', key = '']) => {
      accountOf(state, id).buckets.get(name)?.delete(decodeURIComponent(key));
      return {};
    },
  ],
  [
    'DELETE',
    new RegExp(`${A}/r2/buckets/([^/]+)$`),
    (state, _, [id, name = '']) => {
      const { buckets } = accountOf(state, id);
      if ((buckets.get(name)?.size ?? 0) > 0)
        throw new Refusal(409, 10008, 'The bucket you tried to delete is not empty.');
      if (!buckets.delete(name)) throw missing('The bucket');
      return {};
    },
  ],

  [
    'GET',
    new RegExp(`${A}/queues$`),
    (state, { query }, [id]) => {
      const wanted = query.getAll('name');
      return accountOf(state, id).queues.filter(({ queue_name: name }) => wanted.length === 0 || wanted.includes(name));
    },
  ],
  [
    'POST',
    new RegExp(`${A}/queues$`),
    (state, call, [id]) => {
      const { queue_name: name, settings = {} } = call.body as { queue_name: string; settings?: object };
      const account = accountOf(state, id);
      if (account.queues.some((one) => one.queue_name === name))
        throw new Refusal(409, 11009, 'Queue name is already taken');
      const kept = retentionOf(state, settings);
      const queue = { queue_id: newId(), queue_name: name, settings: kept, consumers: [], producers: [] };
      account.queues.push(queue);
      return queue;
    },
  ],
  [
    'PATCH',
    new RegExp(`${A}/queues/([^/]+)$`),
    (state, call, [id, queueId]) =>
      Object.assign(queueOf(accountOf(state, id), queueId), {
        settings: retentionOf(state, (call.body as { settings: object }).settings),
      }),
  ],
  [
    'DELETE',
    new RegExp(`${A}/queues/([^/]+)$`),
    (state, _, [id, queueId]) => {
      const account = accountOf(state, id);
      queueOf(account, queueId);
      account.queues = account.queues.filter((one) => one.queue_id !== queueId);
      return null;
    },
  ],
  [
    'POST',
    new RegExp(`${A}/queues/([^/]+)/consumers$`),
    (state, call, [id, queueId]) => {
      const queue = queueOf(accountOf(state, id), queueId);
      const { script_name: script, ...rest } = call.body as { script_name: string; settings: unknown; type: 'worker' };
      if (queue.consumers.length > 0) throw new Refusal(400, 11004, 'Queue already has a consumer');
      queue.consumers.push({ consumer_id: newId(), script, ...rest });
      return {};
    },
  ],
  ['PUT', new RegExp(`${A}/queues/([^/]+)/consumers/([^/]+)$`), () => ({})],

  ['GET', new RegExp(`${A}/storage/kv/namespaces$`), (state, _, [id]) => accountOf(state, id).namespaces],
  [
    'POST',
    new RegExp(`${A}/storage/kv/namespaces$`),
    (state, call, [id]) => {
      const { title } = call.body as { title: string };
      const { namespaces } = accountOf(state, id);
      if (namespaces.some((one) => one.title === title))
        throw new Refusal(400, 10014, 'A namespace with this title already exists.');
      const made = { id: newId(), title };
      namespaces.push(made);
      return made;
    },
  ],
  [
    'DELETE',
    new RegExp(`${A}/storage/kv/namespaces/([^/]+)$`),
    (state, _, [id, kv]) => {
      const account = accountOf(state, id);
      account.namespaces = account.namespaces.filter((one) => one.id !== kv);
      return null;
    },
  ],
];
