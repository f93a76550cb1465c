/**
 * What edges report of limits, and what they ask for. The edge is of the operator, so fields are bounded, and nothing
 * more.
 */
import * as z from 'zod/mini';
import { LIMIT_COUNTERS_MAX, LIMIT_TAKES_MAX } from '../../contract/edge/limits.ts';
import { countLimits, takeFromLedger } from '../../store/limit-ledger/client.ts';
import { jsonRoute } from './edge-route.ts';
import { limitAlgorithms } from '../../contract/vocabulary.ts';

/** `page 192.0.2.0/24`, or a signed key. */
const limitCounterKey = z.string().check(z.minLength(1), z.maxLength(96), z.regex(/^[\x21-\x7e]+( [\x21-\x7e]+)*$/));
/** A second to a day. */
const limitWindowMs = z.int().check(z.gte(1000), z.lte(86_400_000));
/** Of a limit, and of the companions and larger networks of its key: no larger count leaves an edge. */
const limitCount = z.int().check(z.gte(1), z.lte(10_000_000));

const BODY_MAX_BYTES = 32 * 1024;
const counter = z.strictObject({
  key: limitCounterKey,
  window: z.int().check(z.nonnegative()),
  count: limitCount,
  windowMs: z.optional(limitWindowMs),
  drains: z.optional(limitCount),
});
const report = z.strictObject({
  windowMs: limitWindowMs,
  counters: z.array(counter).check(z.minLength(1), z.maxLength(LIMIT_COUNTERS_MAX)),
});

/**
 * `POST /edge/v1/limits/report` `{windowMs, counters}` → `{sums}`: an isolate reports what it counted and gets the sums
 * of all isolates, in the same order. The caller's instance is part of every counter, so an edge can count only for
 * itself.
 */
export const sumLimits = jsonRoute({
  path: '/edge/v1/limits/report',
  body: report,
  maxBytes: BODY_MAX_BYTES,
  async answer({ store, instance }, body) {
    const { windowMs, counters } = body;
    return { sums: await countLimits(store, instance.id, windowMs, counters) };
  },
});

const takesRequest = z.strictObject({
  takes: z
    .array(
      z.strictObject({
        key: limitCounterKey,
        algorithm: z.enum(limitAlgorithms),
        count: limitCount,
        windowMs: limitWindowMs,
        asked: limitCount,
      }),
    )
    .check(z.minLength(1), z.maxLength(LIMIT_TAKES_MAX)),
});

/**
 * `POST /edge/v1/limits/take` `{takes}` → `{takings}`: uses of exact limits, granted by the one object that counts the
 * key. A request waits for it. `null` among the takings: that object did not answer, or has no room for another key.
 */
export const grantLimits = jsonRoute({
  path: '/edge/v1/limits/take',
  body: takesRequest,
  maxBytes: BODY_MAX_BYTES,
  async answer({ store, instance }, body) {
    return { takings: await takeFromLedger(store, instance.id, body.takes) };
  },
});
