/**
 * `POST /protect/origin-keys`: the keys an origin checks `X-Protect-Signature` with, a year ahead if it
 * likes, so that an origin with a fixed configuration need not ask again every week (design 3.2).
 */
import * as z from 'zod/mini';
import { operation } from '../../define-operation.ts';
import { originKeys } from '../../../../store/keys/edge-keys.ts';
import { instanceId, ownInstance } from './instance-response.ts';
import { rootKey } from '../../../../store/keys/root-key.ts';

const WEEKS_DEFAULT = 8;
/** A year and a week: whoever configures once a year never falls into a gap. */
const WEEKS_MAX = 53;

export const listOriginKeys = operation({
  name: 'list-origin-keys',
  method: 'POST',
  path: '/protect/origin-keys',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  // No row is written, but what is told is a secret: the audit trail says who asked.
  access: 'write',
  summary: 'List the keys an origin checks the signature of the edge with',
  body: z.strictObject({
    protectInstanceId: instanceId,
    /** How many weeks from now are covered. */
    weeks: z.optional(z.int().check(z.gte(1), z.lte(WEEKS_MAX))),
  }),
  response: z.object({
    keys: z.array(z.object({ kid: z.string(), key: z.string(), validFrom: z.int(), validUntil: z.int() })),
  }),
  async handler(context) {
    const { store, body, nowMs } = context;
    const instance = await ownInstance(context, body.protectInstanceId);
    return { keys: await originKeys(await rootKey(store), instance.id, nowMs, body.weeks ?? WEEKS_DEFAULT) };
  },
});
