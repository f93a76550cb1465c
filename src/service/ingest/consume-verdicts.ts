/**
 * The consumer of the verdict queue: verdicts that edges could not send to the service directly. Records keep their ids,
 * so a message that is delivered twice, or was also sent directly, adds nothing. A message is acknowledged once its rows
 * are durable. A message that cannot be read, or whose instance is deleted, is acknowledged and logged, because a retry
 * would not help. Messages of the dead-letter queue are kept for the scheduled run (`dead-letters.ts`).
 */
import * as core from 'zod/v4/core';
import { verdictMessage } from '../../contract/edge/verdict-batch.ts';
import { instanceById, type StoredInstance } from '../../store/d1/instances.ts';
import { acceptBatch } from './accept-batch.ts';
import { DEAD_LETTER_QUEUE, keepDeadLetter } from './dead-letters.ts';
import type { ServiceStore } from '../environment.ts';

/** Doubles with every attempt. Ten attempts take more than an hour. */
const RETRY_BASE_SECONDS = 5;
const RETRY_MAX_SECONDS = 900;

export async function consumeVerdicts(batch: MessageBatch, store: ServiceStore): Promise<void> {
  const instances = new Map<string, StoredInstance | null>();
  for (const message of batch.messages) {
    const parsed = core.safeParse(verdictMessage, message.body);
    if (!parsed.success) {
      refuse(message, 'unreadable');
      continue;
    }
    const { instanceId } = parsed.data;
    try {
      if (batch.queue === DEAD_LETTER_QUEUE) {
        await keepDeadLetter(store, parsed.data, message.timestamp.getTime());
        console.error(JSON.stringify({ event: 'verdict-message-dead', instanceId, batchId: parsed.data.batchId }));
        message.ack();
        continue;
      }
      const known = instances.get(instanceId);
      const instance = known === undefined ? await instanceById(store, instanceId) : known;
      instances.set(instanceId, instance);
      if (!instance?.active) {
        refuse(message, 'no-instance');
        continue;
      }
      // The age of the records counts from when they were sent: the queue may have held them for days.
      await acceptBatch(store, instance, parsed.data, message.timestamp.getTime());
      message.ack();
    } catch (error) {
      console.error(JSON.stringify({ event: 'verdict-queue-append-failed', message: String(error) }));
      message.retry({ delaySeconds: Math.min(RETRY_BASE_SECONDS * 2 ** message.attempts, RETRY_MAX_SECONDS) });
    }
  }
}

function refuse(message: Message, reason: string): void {
  console.error(JSON.stringify({ event: 'verdict-message-refused', reason, id: message.id }));
  message.ack();
}
