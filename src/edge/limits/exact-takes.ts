/**
 * Takes from exact limits, which only the service's object grants. The takes of one isolate within a millisecond share
 * one call, those of one key one question. A key that was refused is refused here until the object could grant again, so
 * a flood costs few calls. On Workers, I/O belongs to the request that started it: the first request of a batch sends it
 * inside its `waitUntil`, which continues after the visitor disconnects, and each other one has a timer of its own.
 */
import { BoundedMap } from '../../bytes/bounded-map.ts';
import type { LimitTake, LimitTakings } from '../../contract/edge/limits.ts';
import { LIMIT_TAKES_MAX } from '../../contract/edge/limits.ts';

const BATCH_MS = 1;
/** The request that should have sent an older batch is gone. */
const OPEN_LOST_AFTER_MS = 100;
/** Longer than a call takes. Without an answer by then, the sending request is gone. */
const ANSWER_LOST_AFTER_MS = 4000;
/** After a call without an answer nobody asks again for so long. */
const SILENT_MS = 2000;
const REFUSED_KEYS_MAX = 20_000;

/** 0: granted. Else the milliseconds until the limit grants again. `null`: the object did not answer. */
export type WaitOrNull = number | null;

export interface TakePorts {
  ask: (takes: readonly LimitTake[]) => Promise<LimitTakings | null>;
  now: () => number;
  sleep: (ms: number) => Promise<unknown>;
  count: (name: string) => void;
}

interface Batch {
  openedAtMs: number;
  wishes: Map<string, { take: LimitTake; seats: ((answer: WaitOrNull) => void)[] }>;
}

export class ExactTakes {
  readonly #ports: TakePorts;
  readonly #refusedUntilMs = new BoundedMap<number>(REFUSED_KEYS_MAX);
  #open: Batch | null = null;
  #silentUntilMs = 0;

  constructor(ports: TakePorts) {
    this.#ports = ports;
  }

  /** Milliseconds until a key that was refused could be granted again. Asks nobody. */
  refusedMs(wish: Omit<LimitTake, 'asked'>, nowMs: number): number {
    const refusedMs = (this.#refusedUntilMs.get(refusalOf(wish)) ?? 0) - nowMs;
    // More than a window: the clock was set back since.
    return refusedMs > wish.windowMs ? 0 : Math.max(0, refusedMs);
  }

  async take(
    wish: Omit<LimitTake, 'asked'>,
    nowMs: number,
    waitUntil: (work: Promise<unknown>) => void,
  ): Promise<WaitOrNull> {
    const refusedMs = this.refusedMs(wish, nowMs);
    if (refusedMs > 0) return refusedMs;
    if (nowMs < this.#silentUntilMs && this.#silentUntilMs - nowMs <= SILENT_MS) return null;
    const { promise, resolve } = Promise.withResolvers<WaitOrNull>();
    const isOpener = this.#seat(wish, resolve, nowMs, waitUntil);
    if (isOpener) return promise;
    // A timer of this request, so that it always has I/O of its own to wait for.
    const lost = this.#ports.sleep(ANSWER_LOST_AFTER_MS).then(() => null);
    return Promise.race([promise, lost]);
  }

  /** Whether this request sends the batch. */
  #seat(
    wish: Omit<LimitTake, 'asked'>,
    resolve: (answer: WaitOrNull) => void,
    nowMs: number,
    waitUntil: (work: Promise<unknown>) => void,
  ): boolean {
    let batch = this.#open;
    const isLost = batch !== null && Math.abs(nowMs - batch.openedAtMs) > OPEN_LOST_AFTER_MS;
    const isOpener = batch === null || isLost;
    if (batch === null || isLost) batch = this.#open = { openedAtMs: nowMs, wishes: new Map() };
    const known = batch.wishes.get(wish.key);
    if (known) {
      known.take.asked++;
      known.seats.push(resolve);
    } else batch.wishes.set(wish.key, { take: { ...wish, asked: 1 }, seats: [resolve] });
    if (isOpener) waitUntil(this.#send(batch));
    if (batch.wishes.size >= LIMIT_TAKES_MAX) this.#open = null;
    return isOpener;
  }

  async #send(batch: Batch): Promise<void> {
    const { ask, now, sleep, count } = this.#ports;
    await sleep(BATCH_MS);
    if (this.#open === batch) this.#open = null;
    const wishes = [...batch.wishes.values()];
    const takings = await ask(wishes.map(({ take }) => take));
    if (takings === null) this.#silentUntilMs = now() + SILENT_MS;
    wishes.forEach(({ take, seats }, index) => {
      const taking = takings?.[index] ?? null;
      if (taking === null) count('limit_take_failures');
      const [granted, , waitMs] = taking ?? [0, 0, 0];
      if (waitMs > 0) this.#refusedUntilMs.set(refusalOf(take), now() + waitMs);
      seats.forEach((seat, place) => seat(taking === null ? null : place < granted ? 0 : Math.max(1, waitMs)));
    });
  }
}

/** A limit that allows more than it did when it refused is asked again. */
function refusalOf({ key, count }: Pick<LimitTake, 'key' | 'count'>): string {
  return `${count} ${key}`;
}
