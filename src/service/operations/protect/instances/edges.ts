/**
 * The edges of an instance: their client JWTs, their last contact, and the keys with which an origin checks what they
 * sign.
 */
import type { SeenEdge } from '../../../../store/rule-book/rpc.ts';
import {
  CLIENT_JWT_WEEKS_MAX,
  clientJwtsOfInstance,
  issueClientJwt,
  revokeClientJwt,
  type ClientJwtRecord,
} from '../../../../store/d1/client-jwts.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';
import * as z from 'zod/mini';
import { protectOperation, type Operation } from '../../define-operation.ts';
import { instanceId, ownInstance } from '../chosen-instance.ts';
import { OperationError } from '../../operation-error.ts';
import { ruleBook } from '../../../../store/rule-book/client.ts';
import { originKeys } from '../../../../store/keys/edge-keys.ts';
import { rootKey } from '../../../../store/keys/root-key.ts';

/** Three scheduled runs that failed to call. */
const SILENT_AFTER_MS = 180_000;
/** An edge takes new rules within seconds while it has visitors, else at its next scheduled run. */
const RULES_OLD_AFTER_MS = 180_000;

const edgeStates = ['in-contact', 'old-rules', 'silent', 'never-seen', 'retired'] as const;
type EdgeState = (typeof edgeStates)[number];

/**
 * How an edge whose client JWT works is, from its last contact and the rules that it has taken. An edge without visitors
 * still polls once a minute, by its scheduled run.
 */
function edgeState(seen: SeenEdge | undefined, nowMs: number): EdgeState {
  if (seen === undefined) return 'never-seen';
  if (nowMs - seen.contactAt > SILENT_AFTER_MS) return 'silent';
  return areRulesOld(seen, nowMs) ? 'old-rules' : 'in-contact';
}

export function areRulesOld({ behindSince }: SeenEdge, nowMs: number): boolean {
  return behindSince !== null && nowMs - behindSince > RULES_OLD_AFTER_MS;
}

/** Far more than regular rotation leaves. */
export const CLIENT_JWTS_LISTED_MAX = 1000;

const clientJwtStatuses = ['active', 'expired', 'revoked'] as const;

/** Revoked alone, revoked with every earlier one of its instance, expired, or active. */
export function clientJwtStatus(
  { issuedAt, expiresAt, revokedAt }: ClientJwtRecord,
  { clientJwtsRevokedBefore }: StoredInstance,
  nowMs: number,
): (typeof clientJwtStatuses)[number] {
  if (revokedAt !== null || issuedAt <= (clientJwtsRevokedBefore ?? -1)) return 'revoked';
  return expiresAt <= nowMs ? 'expired' : 'active';
}

const WEEKS_DEFAULT = 8;
/** A year and a week: an origin that is configured once a year has no gap. */
const WEEKS_MAX = 53;

export const edgeOperations: readonly Operation[] = [
  /**
   * Issues the JWT that an edge Worker authenticates with. The token is shown once. Only its `jti` is stored, for
   * listing and revoking.
   */
  protectOperation({
    name: 'generate-client-jwt',
    path: '/protect/client-jwt/generate',
    access: 'write',
    summary: 'Issue the JWT an edge Worker authenticates with',
    body: z.strictObject({
      protectInstanceId: instanceId,
      /** 0 means 100 years, which is practically unlimited. */
      expiresInWeeks: z.int().check(z.gte(0), z.lte(CLIENT_JWT_WEEKS_MAX)),
    }),
    response: z.object({
      clientJwt: z.string(),
      jti: z.string(),
      protectInstanceId: z.string(),
      issuedAt: z.int(),
      expiresAt: z.int(),
    }),
    async handler(context) {
      const { store, body, nowMs, serviceUrl } = context;
      const instance = await ownInstance(context, body.protectInstanceId);
      context.changes.name('instance', instance.name);
      const issued = await issueClientJwt(store, serviceUrl, instance.id, body.expiresInWeeks, nowMs);
      return { ...issued, protectInstanceId: instance.id };
    },
  }),
  /** The client JWTs of an instance, newest first, without the tokens. */
  protectOperation({
    name: 'list-client-jwts',
    path: '/protect/client-jwt/list',
    access: 'read',
    summary: 'List issued client JWTs',
    body: z.strictObject({ protectInstanceId: instanceId }),
    response: z.object({
      clientJwts: z.array(
        z.object({
          jti: z.string(),
          protectInstanceId: z.string(),
          issuedAt: z.int(),
          expiresAt: z.int(),
          revokedAt: z.nullable(z.int()),
          status: z.enum(clientJwtStatuses),
        }),
      ),
    }),
    async handler(context) {
      const instance = await ownInstance(context, context.body.protectInstanceId);
      const records = await clientJwtsOfInstance(context.store, instance.id, CLIENT_JWTS_LISTED_MAX);
      return {
        clientJwts: records.map((record) => ({
          jti: record.jti,
          protectInstanceId: instance.id,
          issuedAt: record.issuedAt,
          expiresAt: record.expiresAt,
          revokedAt: record.revokedAt,
          status: clientJwtStatus(record, instance, context.nowMs),
        })),
      };
    },
  }),
  /** Revokes one client JWT by its `jti`, from the next call of the edge on. */
  protectOperation({
    name: 'revoke-client-jwt',
    path: '/protect/client-jwt/revoke',
    access: 'write',
    summary: 'Revoke one client JWT',
    body: z.strictObject({ protectInstanceId: instanceId, jti: z.string().check(z.minLength(1), z.maxLength(128)) }),
    response: z.object({ success: z.literal(true), jti: z.string() }),
    async handler(context) {
      const { store, body, nowMs } = context;
      const instance = await ownInstance(context, body.protectInstanceId);
      if (!(await revokeClientJwt(store, instance.id, body.jti, nowMs))) {
        throw new OperationError('API.NOT_FOUND', 'The instance has no client JWT with this jti');
      }
      context.changes.name('instance', instance.name);
      return { success: true, jti: body.jti };
    },
  }),
  /**
   * The edges of an instance, each known by its client JWT: when it last made contact, and which rules and config it
   * has taken.
   */
  protectOperation({
    name: 'list-edges',
    path: '/protect/edges',
    access: 'read',
    summary: 'List edges with their last contact and what they have taken',
    body: z.strictObject({ protectInstanceId: instanceId }),
    response: z.object({
      /** The version that every edge should have. */
      rulesVersion: z.int(),
      edges: z.array(
        z.object({
          /** The `jti` of its client JWT. */
          clientJwtId: z.string(),
          status: z.enum(clientJwtStatuses),
          issuedAt: z.int(),
          expiresAt: z.int(),
          lastContactAt: z.nullable(z.int()),
          /**
           * `old-rules`: in contact, and without a change for three minutes. `silent`: no contact for three minutes.
           * `retired`: its client JWT no longer works.
           */
          state: z.enum(edgeStates),
          /** Version of its code, and the location of its newest verdicts; `null` until it sent one. */
          build: z.nullable(z.string()),
          colo: z.nullable(z.string()),
          /** The newest rules that it has taken; `null` while none are known. */
          rules: z.nullable(
            z.object({
              version: z.int(),
              isCurrent: z.boolean(),
              /** When the first change that it lacks was made. */
              behindSince: z.nullable(z.int()),
            }),
          ),
          /** The config that it took last; `null` while none is known. */
          config: z.nullable(z.object({ version: z.string(), takenAt: z.int() })),
        }),
      ),
    }),
    async handler(context) {
      const { store, body, nowMs } = context;
      const instance = await ownInstance(context, body.protectInstanceId);
      const [jwts, seen] = await Promise.all([
        clientJwtsOfInstance(store, instance.id, CLIENT_JWTS_LISTED_MAX),
        ruleBook(store, instance.id).edges(),
      ]);
      const byJti = new Map(seen.edges.map((edge) => [edge.jti, edge]));
      const listed = jwts
        .map((jwt) => ({ jwt, status: clientJwtStatus(jwt, instance, nowMs), edge: byJti.get(jwt.jti) }))
        // A client JWT that nobody used, and nobody can use, is no edge.
        .filter(({ status, edge }) => status === 'active' || edge !== undefined)
        .toSorted((a, b) => (b.edge?.contactAt ?? 0) - (a.edge?.contactAt ?? 0));
      return {
        rulesVersion: seen.version,
        edges: listed.map(({ jwt, status, edge }) => ({
          clientJwtId: jwt.jti,
          status,
          issuedAt: jwt.issuedAt,
          expiresAt: jwt.expiresAt,
          lastContactAt: edge?.contactAt ?? null,
          state: status === 'active' ? edgeState(edge, nowMs) : ('retired' as const),
          build: edge?.build ?? null,
          colo: edge?.colo ?? null,
          rules: rulesOf(edge),
          config: configOf(edge),
        })),
      };
    },
  }),
  /**
   * The keys with which an origin checks `X-Protect-Signature`, up to a year ahead, so that an origin with a fixed
   * configuration need not ask every week.
   */
  protectOperation({
    name: 'list-origin-keys',
    path: '/protect/origin-keys',
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
      context.changes.name('instance', instance.name);
      return { keys: await originKeys(await rootKey(store), instance.id, nowMs, body.weeks ?? WEEKS_DEFAULT) };
    },
  }),
];

function rulesOf(edge: SeenEdge | undefined) {
  if (edge === undefined || edge.rulesVersion === null) return null;
  const { rulesVersion: version, behindSince } = edge;
  return { version, isCurrent: behindSince === null, behindSince };
}

function configOf(edge: SeenEdge | undefined) {
  if (edge === undefined || edge.configVersion === null || edge.configAt === null) return null;
  return { version: edge.configVersion, takenAt: edge.configAt };
}
