/**
 * A seal over a task: the fields that judging needs, and a keyed tag over them and the right answer. The answer itself is
 * never inside, so not even a stolen seal key shows it. Challenges of captchas and of sessions are sealed like this, each
 * for a purpose of its own.
 */
import type { Bytes } from '../../bytes/utf8.ts';
import { encodeFields } from './field-encoding.ts';
import { CLOCK_SKEW_MS, keyDay, type Keyring } from './keyring.ts';
import { seal, type SealPurpose, unseal } from './seal.ts';

export type TaskPurpose = Exclude<SealPurpose, 'token'>;

const TAG_BYTES = 32;

/** `answer`: the canonical bytes of the right answer; `null` where judging is not a comparison. */
export async function sealAnswered(
  keyring: Keyring,
  purpose: TaskPurpose,
  fields: readonly Bytes[],
  answer: Uint8Array | null,
  issuedAt: number,
): Promise<string> {
  let tag: Bytes = new Uint8Array(0);
  if (answer !== null) {
    const key = await keyring.tagKey('answer', keyDay(issuedAt));
    tag = new Uint8Array(await crypto.subtle.sign('HMAC', key, encodeFields([...fields, answer])));
  }
  return seal(keyring, purpose, [...fields, tag], issuedAt);
}

export interface OpenedTask<Task> {
  challenge: Task;
  /** Compares in constant time. Always false for a task that was sealed without an answer. */
  answeredBy(answer: Uint8Array): Promise<boolean>;
}

/**
 * The task that `read` makes of its `count` fields. `null`: not sealed by this deployment for this purpose, changed, or
 * from the future. The caller checks expiry.
 */
export async function openAnswered<Task extends { issuedAt: number }>(
  keyring: Keyring,
  purpose: TaskPurpose,
  text: string,
  nowMs: number,
  { count, read }: { count: number; read: (fields: readonly Bytes[]) => Task | null },
): Promise<OpenedTask<Task> | null> {
  const opened = await unseal(keyring, purpose, text, count + 1, nowMs);
  if (opened === null) return null;
  const fields = opened.slice(0, count);
  const tag = opened[count]!;
  const challenge = read(fields);
  if (challenge === null || challenge.issuedAt > nowMs + CLOCK_SKEW_MS) return null;
  return {
    challenge,
    async answeredBy(answer) {
      if (tag.length !== TAG_BYTES) return false;
      const key = await keyring.tagKey('answer', keyDay(challenge.issuedAt));
      return crypto.subtle.verify('HMAC', key, tag, encodeFields([...fields, answer]));
    },
  };
}
