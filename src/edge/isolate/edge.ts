/**
 * What one isolate of the edge keeps between requests: checked environment, feed, verified tokens,
 * the log. Built once per environment object; a mistake in the environment is told line by line and
 * every request is refused until it is mended (issue 4, point 9).
 */
import type { EdgeConfig } from '../../contract/edge/edge-api.ts';
import { behaviourOfSecret } from '../../contract/captcha/test-keys.ts';
import { VerdictBatcher } from '../../logsink/verdict-log.ts';
import { BodyBudget } from './body-budget.ts';
import { Clearances } from '../session/clearance.ts';
import { readEnvironment } from '../environment.ts';
import type { EdgeEnvironment } from '../environment.ts';
import type { EdgeMode } from './edge-mode.ts';
import { ClientFiles } from '../feed/client-files.ts';
import { ColoCache } from '../feed/colo-cache.ts';
import { ConfigSeal } from '../feed/config-seal.ts';
import { Feed } from '../feed/feed.ts';
import { KvStore } from '../feed/kv.ts';
import { ServiceClient } from '../feed/service-client.ts';
import type { Count } from '../feed/upstream.ts';
import { readIpCategories } from '../request/ip-categories.ts';
import type { IpCategories } from '../request/ip-categories.ts';
import { sinksOf } from './log-sinks.ts';
import { PAGE_TEXTS_FILE, PageTexts } from '../feed/page-texts.ts';
import { Sessions } from '../session/session.ts';

export interface Edge {
  environment: EdgeEnvironment;
  instanceId: string;
  service: ServiceClient;
  feed: Feed;
  files: ClientFiles;
  pageTexts: PageTexts;
  kv: KvStore;
  seal: ConfigSeal;
  categories: IpCategories;
  sessions: Sessions;
  clearances: Clearances;
  bodies: BodyBudget;
  log: VerdictBatcher;
  count: Count;
}

export type EdgeReading = { ok: true; edge: Edge } | { ok: false; mistakes: readonly string[] };

let built: { env: object; reading: EdgeReading } | null = null;

export function edgeOf(env: object, mode: EdgeMode): EdgeReading {
  if (built?.env === env) return built.reading;
  const reading = build(env as Record<string, unknown>, mode);
  built = { env, reading };
  if (!reading.ok) for (const mistake of reading.mistakes) console.error(`gatehouse-edge: ${mistake}`);
  return reading;
}

function build(env: Record<string, unknown>, mode: EdgeMode): EdgeReading {
  const read = readEnvironment(env, mode);
  const categories = readIpCategories(read.ok ? read.environment.ipCategories : null);
  if (!read.ok || !categories.ok) {
    return { ok: false, mistakes: [...(read.ok ? [] : read.mistakes), ...(categories.ok ? [] : [categories.reason])] };
  }
  const { environment } = read;
  const { rules, serviceUrl, service: binding, kv: namespace, pollMs, maxStaleMs } = environment;
  const credential = rules.kind === 'service' ? rules.clientJwt : rules.apiKey;
  const instanceId = rules.kind === 'service' ? rules.claims.instanceId : rules.siteKey;
  const log = new VerdictBatcher({ ...sinksOf(environment), now: Date.now, isolateId: crypto.randomUUID() });
  const count: Count = (name) => log.count(name);
  const service = new ServiceClient({ serviceUrl, service: binding, clientJwt: credential, count });
  const kv = new KvStore(namespace, instanceId, count);
  const seal = new ConfigSeal(credential);
  const cache = new ColoCache(instanceId, count);
  const upstream = mode.upstream({ service, kv, seal });
  const source = rules.kind === 'service' ? service : null;
  const files = new ClientFiles({ embedded: mode.files, service: source, cache, kv, count, now: Date.now });
  const readTexts = source && (() => files.read(PAGE_TEXTS_FILE));
  const pageTexts = new PageTexts(mode.languages, readTexts, Date.now);
  const alongside = () => pageTexts.load();
  const accepts = (config: EdgeConfig): boolean =>
    environment.allowTestKeys || behaviourOfSecret(config.secretKey) === null;
  const feed = new Feed({ upstream, accepts, cache, kv, seal, count, pollMs, maxStaleMs, now: Date.now, alongside });
  return {
    ok: true,
    edge: {
      environment,
      instanceId,
      service,
      feed,
      files,
      pageTexts,
      kv,
      seal,
      categories: categories.categories,
      sessions: new Sessions(),
      clearances: new Clearances(),
      bodies: new BodyBudget(count),
      log,
      count,
    },
  };
}
