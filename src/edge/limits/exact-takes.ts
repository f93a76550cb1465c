/**
 * Takes from exact limits, which only the service's object grants. The takes of one isolate within a millisecond share
 * one call, those of one key one question. A key that was refused is refused here until the object could grant again, so
 * a flood costs few calls.
 */
import * as z from 'zod/mini';
import { parseJson } from '../../bytes/json.ts';
import { BoundedMap } from '../../bytes/bounded-map.ts';
import type { WaitUntil } from '../../bytes/polled.ts';
import { SharedBatch } from '../../bytes/shared-batch.ts';
import { LIMIT_TAKES_MAX, type LimitTake, type LimitTakings } from '../../contract/edge/limits.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { ServiceClient } from '../feed/service-client.ts';
import { type Asked, UNREADABLE } from '../feed/upstream.ts';

/** Longer than a call takes. Without an answer by then, the sending request is gone. */
const ANSWER_LOST_AFTER_MS = 4000;
/** After a call without an answer nobody asks again for so long. */
const SILENT_MS = 2000;
const REFUSED_KEYS_MAX = 20_000;

/** 0: granted. Else the milliseconds until the limit grants again. */
export type TakeAnswer = Result<number, { kind: 'no-answer' }>;
const NO_ANSWER: TakeAnswer = failed({ kind: 'no-answer' });

export interface TakePorts {
  ask: (takes: readonly LimitTake[]) => Promise<Asked<LimitTakings>>;
  now: () => number;
  sleep: (ms: number) => Promise<unknown>;
  count: (name: string) => void;
}

/** By key. `null`: the object did not answer in time. */
type TakeAnswers = ReadonlyMap<string, LimitTakings[number] | null>;

export class ExactTakes {
  readonly #ports: TakePorts;
  readonly #refusedUntilMs = new BoundedMap<number>(REFUSED_KEYS_MAX);
  readonly #batches: SharedBatch<Map<string, LimitTake>, TakeAnswers>;
  #silentUntilMs = 0;

  constructor(ports: TakePorts) {
    this.#ports = ports;
    this.#batches = new SharedBatch(ANSWER_LOST_AFTER_MS, ports.sleep);
  }

  /** Milliseconds until a key that was refused could be granted again. Asks nobody. */
  refusedMs(wish: Omit<LimitTake, 'asked'>, nowMs: number): number {
    const refusedMs = (this.#refusedUntilMs.get(refusalOf(wish)) ?? 0) - nowMs;
    // More than a window: the clock was set back since.
    return refusedMs > wish.windowMs ? 0 : Math.max(0, refusedMs);
  }

  async take(wish: Omit<LimitTake, 'asked'>, nowMs: number, waitUntil: WaitUntil): Promise<TakeAnswer> {
    const refusedMs = this.refusedMs(wish, nowMs);
    if (refusedMs > 0) return ok(refusedMs);
    if (nowMs < this.#silentUntilMs && this.#silentUntilMs - nowMs <= SILENT_MS) return NO_ANSWER;
    let place = 0;
    const question = {
      empty: () => new Map<string, LimitTake>(),
      add: (takes: Map<string, LimitTake>) => {
        const known = takes.get(wish.key);
        place = known?.asked ?? 0;
        if (known) known.asked++;
        else takes.set(wish.key, { ...wish, asked: 1 });
        return takes.size < LIMIT_TAKES_MAX;
      },
      send: (takes: ReadonlyMap<string, LimitTake>) => this.#send([...takes.values()]),
      waitUntil,
    };
    const answers = await this.#batches.ask(question, nowMs);
    const [granted, , waitMs] = answers?.get(wish.key) ?? [null, 0, 0];
    if (granted === null) return NO_ANSWER;
    return ok(place < granted ? 0 : Math.max(1, waitMs));
  }

  async #send(takes: readonly LimitTake[]): Promise<TakeAnswers> {
    const { ask, now, count } = this.#ports;
    const asked = await ask(takes);
    if (!asked.ok) this.#silentUntilMs = now() + SILENT_MS;
    const answers = new Map<string, LimitTakings[number] | null>();
    for (const [index, take] of takes.entries()) {
      const taking = asked.ok ? (asked.value[index] ?? null) : null;
      answers.set(take.key, taking);
      if (taking === null) count('limit_take_failures');
      const waitMs = taking?.[2] ?? 0;
      if (waitMs > 0) this.#refusedUntilMs.set(refusalOf(take), now() + waitMs);
    }
    return answers;
  }
}

/** A limit that allows more than it did when it refused is asked again. */
function refusalOf({ key, count }: Pick<LimitTake, 'key' | 'count'>): string {
  return `${count} ${key}`;
}

/** A request waits. The object may be on another continent, or starting. */
const TAKE_TIMEOUT_MS = 3000;
/** Some numbers for each take. */
const TAKE_ANSWER_MAX_BYTES = 8192;
const uses = z.int().check(z.nonnegative());
const takeAnswer = z.object({ takings: z.array(z.nullable(z.tuple([uses, uses, uses]))) });

/** Asks the service's object. The takings are those of the takes, in their order. */
export function takeAtService(
  service: Pick<ServiceClient, 'ask'>,
  takes: readonly LimitTake[],
): Promise<Asked<LimitTakings>> {
  const read = (body: Uint8Array) => {
    const answer = takeAnswer.safeParse(parseJson(body));
    return answer.success && answer.data.takings.length === takes.length ? ok(answer.data.takings) : UNREADABLE;
  };
  const call = { path: '/edge/v1/limits/take', timeoutMs: TAKE_TIMEOUT_MS, maxBytes: TAKE_ANSWER_MAX_BYTES, read };
  return service.ask<LimitTakings>(call, { takes });
}
