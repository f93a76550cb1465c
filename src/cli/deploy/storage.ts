/**
 * The storage of a deployment: a D1 database, two R2 buckets, two queues and a KV namespace. Each is found by its name or
 * created. Of two runs that create the same thing at once, the platform refuses one, which then finds it.
 */
import * as z from 'zod/mini';
import { ApiError, type CloudflareApi } from './cloudflare-api.ts';
import type { Names } from './names.ts';

/** Two weeks, the longest that a queue allows: verdicts wait that long for a service that is down. */
const RETENTION_SECONDS = 1_209_600;
/** 1,000 objects each. The bucket of a larger log is emptied by a rule of R2, or by running the command again. */
const DELETE_ROUNDS_MAX = 1000;

/** Ids on the platform, `null` for what is not there. */
export interface Storage {
  databaseId: string;
  kvId: string;
}

export interface Resource {
  /** As the plan and the progress name it. */
  title: string;
  /** Its id; `null` where it does not exist. */
  find(): Promise<string | null>;
  create(): Promise<string>;
  /** Corrects a setting of one that is there. @returns what a person should know; `null` where all is as it should be. */
  settle?(id: string): Promise<string | null>;
  remove(id: string): Promise<void>;
}

const named = z.object({ uuid: z.string(), name: z.string() });
const namespace = z.object({ id: z.string(), title: z.string() });
const queueShape = z.object({
  queue_id: z.string(),
  queue_name: z.string(),
  settings: z.optional(z.nullable(z.object({ message_retention_period: z.optional(z.number()) }))),
});
const object = z.object({ key: z.string() });
const nothing = z.unknown();

export interface Resources {
  database: Resource;
  rulesets: Resource;
  segments: Resource;
  verdicts: Resource;
  dead: Resource;
  kv: Resource;
}

export function resourcesOf(api: CloudflareApi, accountId: string, names: Names): Resources {
  const account = `/accounts/${accountId}`;
  const bucket = (name: string): Resource => ({
    title: `R2 bucket ${name}`,
    find: async () => ((await api.find(nothing, `${account}/r2/buckets/${name}`)) === null ? null : name),
    create: async () => {
      await api.send(nothing, 'POST', `${account}/r2/buckets`, { name });
      return name;
    },
    remove: async () => {
      // A bucket is deleted only when it is empty.
      for (let round = 0; round < DELETE_ROUNDS_MAX; round += 1) {
        const objects = await api.get(
          z.nullable(z.array(object)),
          `${account}/r2/buckets/${name}/objects?per_page=1000`,
        );
        if (objects === null || objects.length === 0) break;
        for (let at = 0; at < objects.length; at += 20) {
          const some = objects.slice(at, at + 20);
          await Promise.all(
            some.map(({ key }) => api.remove(`${account}/r2/buckets/${name}/objects/${encodeURIComponent(key)}`)),
          );
        }
      }
      await api.remove(`${account}/r2/buckets/${name}`);
    },
  });
  const listed = (name: string) => api.list(queueShape, `${account}/queues?name=${name}`);
  const queue = (name: string): Resource => ({
    title: `Queue ${name}`,
    find: async () => {
      const all = await listed(name);
      return all.find((one) => one.queue_name === name)?.queue_id ?? null;
    },
    create: async () => (await api.send(queueShape, 'POST', `${account}/queues`, { queue_name: name })).queue_id,
    settle: async (id) => {
      const isLong = (all: z.infer<typeof queueShape>[]): boolean => {
        const kept = all.find((one) => one.queue_id === id)?.settings?.message_retention_period;
        return kept !== undefined && kept >= RETENTION_SECONDS;
      };
      if (isLong(await listed(name))) return null;
      const settings = { message_retention_period: RETENTION_SECONDS };
      try {
        await api.send(queueShape, 'PATCH', `${account}/queues/${id}`, { queue_name: name, settings });
      } catch (error) {
        // A plan may have a shorter time that nobody can change.
        if (!(error instanceof ApiError && error.status === 400)) throw error;
      }
      return isLong(await listed(name))
        ? null
        : 'which keeps verdicts for less than two weeks, as the plan allows no more';
    },
    remove: (id) => api.remove(`${account}/queues/${id}`),
  });
  return {
    database: {
      title: `D1 database ${names.database}`,
      find: async () => {
        const all = await api.list(named, `${account}/d1/database?name=${names.database}`);
        return all.find(({ name }) => name === names.database)?.uuid ?? null;
      },
      create: async () => (await api.send(named, 'POST', `${account}/d1/database`, { name: names.database })).uuid,
      remove: (id) => api.remove(`${account}/d1/database/${id}`),
    },
    rulesets: bucket(names.buckets.rulesets),
    segments: bucket(names.buckets.segments),
    verdicts: queue(names.queues.verdicts),
    dead: queue(names.queues.dead),
    kv: {
      title: `KV namespace ${names.kv}`,
      find: async () => {
        const all = await api.list(namespace, `${account}/storage/kv/namespaces?per_page=100`);
        return all.find(({ title }) => title === names.kv)?.id ?? null;
      },
      create: async () =>
        (await api.send(namespace, 'POST', `${account}/storage/kv/namespaces`, { title: names.kv })).id,
      remove: (id) => api.remove(`${account}/storage/kv/namespaces/${id}`),
    },
  };
}

/** Its id, whether this call made it, and what a person should know of it. */
export async function foundOrCreated(
  resource: Resource,
): Promise<{ id: string; created: boolean; note: string | null }> {
  const there = await identified(resource);
  return { ...there, note: (await resource.settle?.(there.id)) ?? null };
}

async function identified(resource: Resource): Promise<{ id: string; created: boolean }> {
  const found = await resource.find();
  if (found !== null) return { id: found, created: false };
  try {
    return { id: await resource.create(), created: true };
  } catch (error) {
    // Somebody else made it in the meantime.
    const now =
      error instanceof ApiError && (error.status === 400 || error.status === 409) ? await resource.find() : null;
    if (now === null) throw error;
    return { id: now, created: false };
  }
}
