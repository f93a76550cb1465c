/**
 * Tells the AttackWatch of an instance what its edges report, behind the response and never in front of it. An isolate
 * sums up and makes one call in two seconds at most, and in ten while little comes. Each request counts at its own time, so that
 * what was held during an outage is no surge when it arrives. A network counts for little of what would be an attack:
 * otherwise one computer could switch attack mode on for everybody.
 */
import type { WaitUntil } from '../../bytes/polled.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';
import { neighboursOf } from '../../address/networks.ts';
import { NetworkShares } from '../../attack/network-shares.ts';
import { addTraffic, type NetworkTraffic, noTraffic, STEP_MS, type TrafficSums } from '../../attack/traffic.ts';
import type { StoredInstance } from '../../store/d1/instances.ts';
import { attackWatch } from '../../store/attack-watch/client.ts';
import type { ServiceEnvironment } from '../environment.ts';
import { settleAlarm } from './settle-alarm.ts';

export type FeedingCall = Pick<ServiceEnvironment, 'store' | 'outbound'> & {
  waitUntil: WaitUntil;
};

const BUSY_EVERY_MS = 2000;
const BUSY_FROM_REQUESTS = 20;
const QUIET_EVERY_MS = 10_000;
/** What is older belongs to no surge of now. */
const FRESH_MS = 30_000;
const AHEAD_MAX_MS = 4000;
const INSTANCES_MAX = 1000;
/** Of a step in one report: some 40 kB. Traffic of more networks than these is no few networks'. */
const NETWORKS_APART_MAX = 300;

interface FedStep {
  sums: TrafficSums;
  networks: Map<string, NetworkTraffic>;
}

interface Feed {
  steps: Map<number, FedStep>;
  requests: number;
  sentAt: number;
  isSending: boolean;
}

const feeds = new BoundedMap<Feed>(INSTANCES_MAX);
/** Of all instances. The watch weighs again what several isolates report of one network. */
const shares = new NetworkShares();

/** `records`: of a batch that was accepted. */
export function feedAttackWatch(
  call: FeedingCall,
  instance: StoredInstance,
  records: readonly unknown[],
  nowMs: number,
): void {
  if (instance.attack.trigger === 'off') return;
  const feed = feeds.get(instance.id) ?? { steps: new Map(), requests: 0, sentAt: 0, isSending: false };
  feeds.set(instance.id, feed);
  for (const record of records) count(feed, instance, record, nowMs);
  const every = feed.requests >= BUSY_FROM_REQUESTS ? BUSY_EVERY_MS : QUIET_EVERY_MS;
  if (feed.isSending || feed.requests === 0 || nowMs - feed.sentAt < every) return;
  call.waitUntil(send(call, instance, feed, nowMs));
}

async function send(call: FeedingCall, instance: StoredInstance, feed: Feed, nowMs: number): Promise<void> {
  const steps = [...feed.steps].map(([step, { sums, networks }]) => ({
    step,
    ...sums,
    networks: [...networks.values()],
  }));
  Object.assign(feed, { steps: new Map(), requests: 0, sentAt: nowMs, isSending: true });
  try {
    const { minimumRate } = instance.attack;
    const alarm = await attackWatch(call.store, instance.id).add(steps, { minimumRate });
    await settleAlarm(call, instance, alarm, nowMs);
  } catch (error) {
    console.error(JSON.stringify({ event: 'attack-watch-failed', instanceId: instance.id, message: String(error) }));
  } finally {
    feed.isSending = false;
  }
}

/** Of an accepted batch, but for records that were refused: those have no time or no decision. */
function count(feed: Feed, instance: StoredInstance, given: unknown, nowMs: number): void {
  const { timestamp, ip, decision, status, origin_ms: originMs } = (given ?? {}) as Record<string, unknown>;
  if (typeof timestamp !== 'number' || timestamp < nowMs - FRESH_MS || timestamp > nowMs + AHEAD_MAX_MS) return;
  const step = Math.floor(timestamp / STEP_MS);
  const neighbours = neighboursOf(typeof ip === 'string' ? ip : null);
  if (shares.take(`${instance.id} ${step}`, neighbours, 1, instance.attack.minimumRate) === 0) return;
  const known = feed.steps.get(step) ?? { sums: { ...noTraffic }, networks: new Map() };
  feed.steps.set(step, known);
  feed.requests += 1;
  const isAsked = typeof originMs === 'number' && Number.isFinite(originMs);
  const sums: TrafficSums = {
    requests: 1,
    refused: decision === 'challenge' || decision === 'block' ? 1 : 0,
    originResponses: isAsked ? 1 : 0,
    originErrors: isAsked && typeof status === 'number' && status >= 500 ? 1 : 0,
    originMs: isAsked ? originMs : 0,
  };
  const { near } = neighbours;
  if (!known.networks.has(near) && known.networks.size < NETWORKS_APART_MAX) {
    known.networks.set(near, { ...neighbours, ...noTraffic });
  }
  addTraffic(known.networks.get(near) ?? known.sums, sums);
}
