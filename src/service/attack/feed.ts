/**
 * Tells the AttackWatch of an instance what its edges report, behind the response and never in front of it. An isolate
 * sums up and makes one call in two seconds at most, and in ten while little comes. Each request counts at its own time, so that
 * what was held during an outage is no surge when it arrives. A network counts for little of what would be an attack:
 * otherwise one computer could switch attack mode on for everybody.
 */
import type { WaitUntil } from '../../bytes/polled.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';
import { neighboursOf } from '../../address/networks.ts';
import {
  addTraffic,
  networkShares,
  noTraffic,
  STEP_MS,
  type TrafficStep,
  type TrafficSums,
} from '../../attack/traffic.ts';
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
/** Networks of the last steps, of all instances. Who uses so many is an attack. */
const NETWORKS_MAX = 50_000;

interface Feed {
  steps: Map<number, TrafficStep>;
  requests: number;
  sentAt: number;
  isSending: boolean;
}

const feeds = new BoundedMap<Feed>(INSTANCES_MAX);
/** Requests that were counted, by instance, step and network. */
const counted = new BoundedMap<number>(NETWORKS_MAX);

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
  const steps = [...feed.steps.values()];
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
  if (!hasShare(instance, step, typeof ip === 'string' ? ip : null)) return;
  const known = feed.steps.get(step) ?? { step, ...noTraffic };
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
  addTraffic(known, sums);
}

/** Counts a request in the networks around its address. False: one of them has its share of the step. */
function hasShare({ id, attack }: StoredInstance, step: number, ip: string | null): boolean {
  const shares = networkShares(attack.minimumRate);
  const { near, around } = neighboursOf(ip);
  const keyOf = (network: string): string => `${id} ${step} ${network}`;
  const [nearKey, aroundKey] = [keyOf(near), keyOf(`around ${around}`)];
  const [ofNear, ofAround] = [counted.get(nearKey) ?? 0, counted.get(aroundKey) ?? 0];
  if (ofNear >= shares.near || ofAround >= shares.around) return false;
  counted.set(nearKey, ofNear + 1);
  counted.set(aroundKey, ofAround + 1);
  return true;
}
