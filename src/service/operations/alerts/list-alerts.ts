/** `POST /alerts/list`: what happened, newest first, and what became of each delivery. Kept for 90 days. */
import * as z from 'zod/mini';
import { alertPhases, deliveryStates, sentKinds } from '../../../contract/management/alerts.ts';
import { alertPage } from '../../../store/d1/alerts.ts';
import { activeInstances } from '../../../store/d1/instances.ts';
import { operation } from '../define-operation.ts';
import { NoActiveInstanceError, OperationError } from '../operation-error.ts';

const LIMIT_DEFAULT = 50;
const LIMIT_MAX = 200;

export const listAlerts = operation({
  name: 'list-alerts',
  method: 'POST',
  path: '/alerts/list',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'List alerts and their deliveries',
  body: z.strictObject({
    /** Only alerts about the instance with this site key. Without it, all of the account. */
    siteKey: z.optional(z.string().check(z.minLength(1), z.maxLength(256))),
    kind: z.optional(z.enum(sentKinds)),
    limit: z._default(z.int().check(z.gte(1), z.lte(LIMIT_MAX)), LIMIT_DEFAULT),
    cursor: z.optional(z.string().check(z.maxLength(128))),
  }),
  response: z.object({
    alerts: z.array(
      z.object({
        id: z.string(),
        kind: z.enum(sentKinds),
        phase: z.enum(alertPhases),
        at: z.int(),
        instanceId: z.nullable(z.string()),
        subject: z.string(),
        summary: z.string(),
        facts: z.record(z.string(), z.union([z.string(), z.number()])),
        deliveries: z.array(
          z.object({
            channelId: z.string(),
            channelName: z.nullable(z.string()),
            state: z.enum(deliveryStates),
            attempts: z.int(),
            triedAt: z.nullable(z.int()),
            dueAt: z.nullable(z.int()),
            error: z.nullable(z.string()),
          }),
        ),
      }),
    ),
    nextCursor: z.nullable(z.string()),
  }),
  async handler({ store, account, body }) {
    const { siteKey, kind = null, limit } = body;
    let instanceId: string | null = null;
    if (siteKey !== undefined) {
      const [instance] = await activeInstances(store, account.id, { siteKey, limit: 1 });
      if (instance === undefined) throw new NoActiveInstanceError();
      instanceId = instance.id;
    }
    const alerts = await alertPage(store, account.id, { instanceId, kind, limit }, positionOf(body.cursor));
    const last = alerts.at(-1);
    return { alerts, nextCursor: last && alerts.length === limit ? `${last.at}.${last.id}` : null };
  },
});

function positionOf(cursor: string | undefined): { at: number; id: string } | null {
  if (cursor === undefined) return null;
  const match = /^(\d{1,15})\.(\w{1,64})$/.exec(cursor);
  if (!match?.[1] || !match[2]) {
    throw new OperationError('API.INVALID_BODY', 'The cursor cannot be read', [
      { path: 'cursor', message: 'must be the nextCursor of an earlier response' },
    ]);
  }
  return { at: Number(match[1]), id: match[2] };
}
