/**
 * `POST /protect/origin-keys`: the keys with which an origin checks `X-Protect-Signature`, up to a year ahead, so that an
 * origin with a fixed configuration need not ask every week.
 */
import * as z from 'zod/mini';
import { operation } from '../../define-operation.ts';
import { originKeys } from '../../../../store/keys/edge-keys.ts';
import { instanceId, ownInstance } from './instance-response.ts';
import { rootKey } from '../../../../store/keys/root-key.ts';

const WEEKS_DEFAULT = 8;
/** A year and a week: an origin that is configured once a year has no gap. */
const WEEKS_MAX = 53;

export const listOriginKeys = operation({
  name: 'list-origin-keys',
  method: 'POST',
  path: '/protect/origin-keys',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  // Nothing is written, but the response has secrets, and the audit trail must show who asked for them.
  access: 'write',
  summary: 'List the keys with which an origin checks the signature of the edge',
  body: z.strictObject({
    protectInstanceId: instanceId,
    /** Number of weeks from now. */
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
