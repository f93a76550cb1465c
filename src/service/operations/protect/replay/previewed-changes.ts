/** What a preview adds up: requests that would be decided otherwise, of each change the newest, and what nobody can tell. */
import * as z from 'zod/mini';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import type { ReplayedRequest, ReplayedOutcome } from './gate-replay.ts';
import { previewedRequest, previewedRequestOf } from './previewed-requests.ts';

/** Of each change, so that a frequent one does not hide a rare one. */
const SAMPLES_MAX = 10;

/** One request, decided now and after the change. */
export interface Compared {
  from: ReplayedOutcome;
  to: ReplayedOutcome;
  /** What decides after the change. */
  decidedBy: string;
}

/**
 * The request before and after the change; `null` where that depends on what the log does not keep. `isSame`: whether a
 * policy's condition is the same in both, so that it applies to the request in both or in neither.
 */
export function compared(
  before: ReplayedRequest,
  after: ReplayedRequest,
  isSame: (policyName: string) => boolean = () => true,
): Compared | null {
  if (before.branches === null || after.branches === null) return null;
  const [{ outcome: from }] = before.branches;
  const [{ outcome: to, decidedBy }] = after.branches;
  const both = before.unsure.filter((name) => after.unsure.includes(name) && isSame(name));
  const changes = new Set<string>();
  for (const one of before.branches) {
    for (const other of after.branches) {
      const isPossible = both.every((name) => one.applying.has(name) === other.applying.has(name));
      if (isPossible) changes.add(one.outcome === other.outcome ? 'none' : `${one.outcome} ${other.outcome}`);
    }
  }
  return changes.size > 1 ? null : { from, to, decidedBy };
}

interface Change {
  from: ReplayedOutcome;
  to: ReplayedOutcome;
  requests: number;
  addresses: Set<string | null>;
}

export function changeSchemas<const Outcome extends ReplayedOutcome>(outcomes: readonly Outcome[]) {
  const outcome = z.enum(outcomes);
  const transition = { from: outcome, to: outcome, requests: z.int() };
  const sample = z.object({ ...previewedRequest, from: outcome, to: outcome, decidedBy: z.string() });
  return {
    transition,
    sample,
    fields: {
      changed: z.int(),
      /** Distinct addresses of the changed requests. */
      changedAddresses: z.int(),
      /** Each way in which a decision changes. */
      changes: z.array(z.object({ ...transition, addresses: z.int() })),
      /** The newest of each change. */
      samples: z.array(sample),
      /** Requests whose decision depends on a header, a cookie or the query, which the log does not keep. */
      untold: z.int(),
    },
  };
}

/**
 * Further answers that were tried for requests of which a policy asks for what the log does not keep: some 10,000
 * requests with the most of such policies, a few seconds of work.
 */
const FURTHER_ANSWERS_MAX = 300_000;

export class ChangeSums {
  readonly #furtherMax: number;
  readonly #changes: Change[] = [];
  readonly #samples: object[] = [];
  #untold = 0;
  #further = 0;

  constructor(furtherMax = FURTHER_ANSWERS_MAX) {
    this.#furtherMax = furtherMax;
  }

  /** Whether the preview has done as much work as one call may. */
  get isFull(): boolean {
    return this.#further >= this.#furtherMax;
  }

  /** Counts the work that a request made. */
  tried(...replayed: readonly ReplayedRequest[]): void {
    for (const { branches } of replayed) this.#further += Math.max(0, (branches?.length ?? 0) - 1);
  }

  note(record: VerdictRecord, outcome: Compared | null): void {
    if (outcome === null) this.#untold += 1;
    if (outcome === null || outcome.from === outcome.to) return;
    const { from, to } = outcome;
    let change = this.#changes.find((known) => known.from === from && known.to === to);
    if (change === undefined) this.#changes.push((change = { from, to, requests: 0, addresses: new Set() }));
    change.requests += 1;
    change.addresses.add(record.ip);
    if (change.requests <= SAMPLES_MAX) this.#samples.push(changeSample(record, outcome));
  }

  sums() {
    const changes = this.#changes;
    return {
      changed: changes.reduce((sum, { requests }) => sum + requests, 0),
      changedAddresses: new Set(changes.flatMap(({ addresses }) => [...addresses])).size,
      changes: changes.map((change) => ({ ...change, addresses: change.addresses.size })),
      samples: this.#samples,
      untold: this.#untold,
    };
  }
}

export function changeSample(record: VerdictRecord, { from, to, decidedBy }: Compared): object {
  return { ...previewedRequestOf(record), from, to, decidedBy };
}
