/**
 * Tells the rule book what a call shows of the edge that makes it, behind the response. The poll of the version tells it
 * that the edge is there; this is what only other calls show.
 */
import * as z from 'zod/mini';
import { BoundedMap } from '../../bytes/bounded-map.ts';
import { ruleBook } from '../../store/rule-book/client.ts';
import type { EdgeSighting } from '../../store/rule-book/rpc.ts';
import type { EdgeCall } from './edge-route.ts';

/** An isolate of a busy edge sends a batch every second: the book needs to hear of it once a minute. */
const SENDER_EVERY_MS = 60_000;

/** By client JWT: when this isolate last told the book, and of which rules. */
const told = new BoundedMap<{ at: number; rulesVersion: number }>(1000);

const sender = z.object({
  ruleset_version: z.int().check(z.nonnegative()),
  edge: z.object({
    version: z.string().check(z.minLength(1), z.maxLength(64)),
    colo: z.string().check(z.minLength(1), z.maxLength(16)),
  }),
});

export function noteEdge(call: EdgeCall, shown: Omit<EdgeSighting, 'jti' | 'at'>): void {
  const { store, instance, clientJwtId, nowMs, waitUntil } = call;
  const noted = ruleBook(store, instance.id).noteEdge({ jti: clientJwtId, at: nowMs, ...shown });
  // The edge has its answer. The next call tells the book again.
  waitUntil(
    noted.catch((error: unknown) => {
      console.error(JSON.stringify({ level: 'error', event: 'edge-not-noted', message: String(error) }));
    }),
  );
}

/** The build, the location and the rules of the newest record, which is the last of its batch. */
export function noteSender(call: EdgeCall, records: readonly unknown[]): void {
  const read = z.safeParse(sender, records.at(-1));
  if (!read.success) return;
  const { ruleset_version: rulesVersion, edge } = read.data;
  const before = told.get(call.clientJwtId);
  if (before && call.nowMs - before.at < SENDER_EVERY_MS && rulesVersion <= before.rulesVersion) return;
  told.set(call.clientJwtId, { at: call.nowMs, rulesVersion });
  noteEdge(call, { rulesVersion, build: edge.version, colo: edge.colo });
}
