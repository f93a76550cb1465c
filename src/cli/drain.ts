/**
 * What a stop of the local stack waits for. The edge sends the records of its last requests a moment after the responses,
 * so they would be lost with its process.
 */
import { SENT_WITHIN_MS } from '../logsink/verdict-batcher.ts';
import type { Listener } from './listener.ts';

/** The edge's batcher waits first. The rest is for sending. */
const SENT_AFTER_MS = SENT_WITHIN_MS + 250;
/** A request that does not end holds up no stop for longer. */
const DRAIN_MAX_MS = 5000;
const POLL_MS = 25;

/** Refuses requests of visitors, and waits until the service has the records of those before. */
export async function drainVerdicts(edge: Listener, service: Listener): Promise<void> {
  edge.target = null;
  const untilMs = Date.now() + DRAIN_MAX_MS;
  while (Date.now() < untilMs && (edge.quietMs() < SENT_AFTER_MS || service.isServing('/edge/'))) {
    await new Promise((wake) => setTimeout(wake, POLL_MS));
  }
}
