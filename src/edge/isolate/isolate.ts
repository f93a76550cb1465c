/**
 * Everything one isolate keeps between requests: the checked environment, config and rules, verified cookies, budgets,
 * the log. All state of the edge lives here. Built once per environment object; every mistake in the environment is
 * logged on a line of its own, and every request is refused until it is fixed.
 */
import { sleepFor } from '../../bytes/polled.ts';
import { behaviourOfSecret } from '../../contract/captcha/test-keys.ts';
import type { EdgeConfig } from '../../contract/edge/edge-responses.ts';
import { ServiceClock } from '../../logsink/service-clock.ts';
import { VerdictBatcher } from '../../logsink/verdict-batcher.ts';
import { failed, ok, type Result } from '../../result.ts';
import { ProofMemory } from '../../bots/proof-memory.ts';
import { KnownBots, NO_BOTS, type BotReader } from '../decide/known-visitor.ts';
import { LocalChallenges } from '../challenge/local-challenge.ts';
import { WaitLane } from '../challenge/wait-lane.ts';
import { type EdgeEnvironment, readEdgeEnvironment, type RulesMode } from '../environment.ts';
import { ClientFiles, type EmbeddedFile } from '../feed/client-files.ts';
import { ColoCache, KvStore } from '../feed/part-stores.ts';
import { ConfigSeal } from '../feed/stored-parts.ts';
import { Feed } from '../feed/feed.ts';
import { PAGE_TEXTS_FILE, PageTexts } from '../feed/page-texts.ts';
import { ServiceClient } from '../feed/service-client.ts';
import type { Count, Upstream } from '../feed/upstream.ts';
import type { Obstacles } from '../origin/inject.ts';
import { Origins } from '../origin/origins.ts';
import { RobotsFiles } from '../origin/robots-file.ts';
import { readIpCategories, type IpCategories } from '../request/ip-categories.ts';
import type { LimitCounter, LimitTake } from '../../contract/edge/limits.ts';
import { ExactTakes, takeAtService } from '../limits/exact-takes.ts';
import { LimitCounts, reportLimits } from '../limits/limit-counts.ts';
import { Limits } from '../limits/limits.ts';
import { Pace } from '../limits/pace.ts';
import { PendingBudget } from '../limits/pending-budget.ts';
import { Clearances } from '../session/clearances.ts';
import { SessionRenewals, Sessions } from '../session/sessions.ts';
import { BodyBudget } from '../submission/body-budget.ts';
import { NetworkCounts } from '../../address/networks.ts';
import type { PageLanguages } from '../../locales/messages.ts';
import type { VerdictSink } from '../../logsink/sink.ts';
import { analyticsEngineSink } from '../../logsink/sinks/analytics-engine.ts';
import { consoleSink } from '../../logsink/sinks/console.ts';
import { httpSink } from '../../logsink/sinks/http.ts';
import { queueSink } from '../../logsink/sinks/queue.ts';
import { r2Sink } from '../../logsink/sinks/r2.ts';
import { serviceSink } from '../../logsink/sinks/service.ts';

/** A household behind one address solves a few challenges a minute; an office some dozens. */
const POSTS_PER_WINDOW_MAX = 300;
const POST_WINDOW_MS = 60_000;
/** Of one address, and of one session or clearance: a page with a form opens a session, solves a challenge and reports with ten. */
const POSTS_OF_ADDRESS = 20;

export interface Isolate {
  environment: EdgeEnvironment;
  instanceId: string;
  service: ServiceClient;
  feed: Feed;
  files: ClientFiles;
  pageTexts: PageTexts;
  kv: KvStore;
  seal: ConfigSeal;
  categories: IpCategories;
  bots: BotReader;
  /** `null` in front of a service that does not merge it. */
  robots: RobotsFiles | null;
  sessions: Sessions;
  renewals: SessionRenewals;
  clearances: Clearances;
  localChallenges: LocalChallenges;
  waitLane: WaitLane;
  /** Posts to `/__protect/*`, by network. */
  postCounts: NetworkCounts;
  pending: PendingBudget;
  pace: Pace;
  limits: Limits;
  bodies: BodyBudget;
  log: VerdictBatcher;
  count: Count;
  /** Requests whose address from the proxy was not one. */
  unreadAddresses: number;
  origins: Origins;
  obstacles: Obstacles;
}

/** `rules`: with config and bots. `files`: languages and scripts. */
export type KeptPart = 'rules' | 'files';

/**
 * What differs between the two edge Workers: the one with a Gatehouse service behind it, and the one against any other
 * service that implements the documented interface. Each has its own entry and wrangler file, so that the rule
 * compiler and the client of the management API are only where they are needed.
 */
export interface EdgeMode extends RulesMode {
  /** Texts of the pages that are compiled in; English at least. */
  languages: PageLanguages;
  /** Browser files that are compiled in, by name. */
  files: Readonly<Record<string, EmbeddedFile>>;
  /** Where isolates get config and rules. */
  upstream(isolate: Pick<Isolate, 'service' | 'kv' | 'seal'>): Upstream;
  /** The scheduled run: the last known good into KV. Returns what KV lacks afterwards. */
  keepLastKnownGood(isolate: Isolate): Promise<readonly KeptPart[]>;
}

export type IsolateReading = Result<Isolate, readonly string[]>;

let built: { env: object; reading: IsolateReading } | null = null;

export function isolateOf(env: object, mode: EdgeMode): IsolateReading {
  if (built?.env === env) return built.reading;
  const reading = build(env as Record<string, unknown>, mode);
  built = { env, reading };
  if (!reading.ok) for (const mistake of reading.error) console.error(`gatehouse-edge: ${mistake}`);
  return reading;
}

function build(env: Record<string, unknown>, mode: EdgeMode): IsolateReading {
  const read = readEdgeEnvironment(env, mode, Cloudflare.compatibilityFlags);
  const categories = readIpCategories(read.ok ? read.value.ipCategories : null);
  if (!read.ok || !categories.ok) {
    return failed([...(read.ok ? [] : read.error), ...(categories.ok ? [] : [categories.error])]);
  }
  const environment = read.value;
  const { rules, serviceUrl, service: binding, kv: namespace, pollMs, maxStaleMs, allowTestKeys } = environment;
  const credential = rules.kind === 'service' ? rules.clientJwt : rules.apiKey;
  const instanceId = rules.kind === 'service' ? rules.claims.instanceId : rules.siteKey;
  const clock = new ServiceClock();
  const log = new VerdictBatcher({
    ...sinksOf(environment, clock),
    isolateId: crypto.randomUUID(),
    serviceClock: clock,
  });
  const count: Count = (name) => log.count(name);
  const service = new ServiceClient({ serviceUrl, service: binding, clientJwt: credential, count, clock });
  const kv = new KvStore(namespace, instanceId, count);
  const seal = new ConfigSeal(credential);
  const cache = new ColoCache(instanceId, count);
  const upstream = mode.upstream({ service, kv, seal });
  const source = rules.kind === 'service' ? service : null;
  const files = new ClientFiles({ embedded: mode.files, service: source, cache, kv, count, now: Date.now });
  const pageTexts = new PageTexts(mode.languages, source && (() => files.read(PAGE_TEXTS_FILE)), Date.now);
  const alongside = () => pageTexts.load();
  const accepts = ({ secretKey }: EdgeConfig): boolean => allowTestKeys || behaviourOfSecret(secretKey) === null;
  const feed = new Feed({ upstream, accepts, cache, kv, seal, count, pollMs, maxStaleMs, now: Date.now, alongside });
  const report = source && ((counters: readonly LimitCounter[]) => reportLimits(source, counters));
  const ask = source && ((takes: readonly LimitTake[]) => takeAtService(source, takes));
  const limitPorts = { report, now: Date.now, sleep: sleepFor, count };
  const counts = new LimitCounts(limitPorts);
  const takes = ask && new ExactTakes({ ask, now: Date.now, sleep: sleepFor, count });
  const origins = new Origins(environment, count);
  return ok({
    environment,
    instanceId,
    service,
    feed,
    files,
    pageTexts,
    kv,
    seal,
    categories: categories.value,
    bots: source ? new KnownBots(() => feed.bots, new ProofMemory(source)) : NO_BOTS,
    robots: source && new RobotsFiles(origins, source, count),
    sessions: new Sessions(() => !service.reachable),
    renewals: new SessionRenewals(service, count),
    clearances: new Clearances(source && ((shown) => source.learnNetwork(shown))),
    localChallenges: new LocalChallenges(),
    waitLane: new WaitLane(source && { service: source, count }),
    postCounts: new NetworkCounts(POSTS_PER_WINDOW_MAX, POST_WINDOW_MS, POSTS_OF_ADDRESS),
    pending: new PendingBudget(counts),
    pace: new Pace(new LimitCounts(limitPorts)),
    limits: new Limits(counts, takes, count, Date.now),
    bodies: new BodyBudget(count),
    log,
    count,
    unreadAddresses: 0,
    origins,
    obstacles: new Map(),
  });
}

/** The sinks that the environment names, and where verdicts go that the service could not take. */
function sinksOf(environment: EdgeEnvironment, clock: ServiceClock): { sinks: VerdictSink[]; fallback?: VerdictSink } {
  const { serviceUrl, service, rules, queue, logBucket, analytics, logUrl, logAuthorization } = environment;
  const call = (url: string, init: RequestInit): Promise<Response> =>
    service && url.startsWith(`${serviceUrl}/`) ? service.fetch(url, init) : fetch(url, init);
  const sinks = environment.sinks.flatMap((name): VerdictSink[] => {
    switch (name) {
      case 'service':
        return rules.kind === 'service'
          ? [serviceSink({ serviceUrl, clientJwt: rules.clientJwt, fetch: call, clock })]
          : [];
      case 'queue':
        return queue ? [queueSink(queue)] : [];
      case 'r2':
        return logBucket ? [r2Sink(logBucket)] : [];
      case 'analytics-engine':
        return analytics ? [analyticsEngineSink(analytics)] : [];
      case 'http':
        return logUrl
          ? [
              httpSink({
                url: logUrl,
                fetch: call,
                ...(logAuthorization ? { headers: { authorization: logAuthorization } } : {}),
              }),
            ]
          : [];
      case 'console':
        return [consoleSink];
    }
  });
  return queue && environment.sinks.includes('service') ? { sinks, fallback: queueSink(queue) } : { sinks };
}
