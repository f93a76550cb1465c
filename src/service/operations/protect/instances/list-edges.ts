/**
 * `POST /protect/edges`: the edges of an instance, each known by its client JWT: when it last made contact, and which
 * rules and config it has taken.
 */
import * as z from 'zod/mini';
import { clientJwtsOfInstance } from '../../../../store/d1/client-jwts.ts';
import { ruleBook } from '../../../../store/rule-book/client.ts';
import type { SeenEdge } from '../../../../store/rule-book/rpc.ts';
import { operation } from '../../define-operation.ts';
import { CLIENT_JWTS_LISTED_MAX, clientJwtStatus, clientJwtStatuses } from './client-jwt-status.ts';
import { edgeState, edgeStates } from './edge-state.ts';
import { instanceId, ownInstance } from './instance-response.ts';

export const listEdges = operation({
  name: 'list-edges',
  method: 'POST',
  path: '/protect/edges',
  feature: 'Protect',
  permission: 'updateProtectSettings',
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
});

function rulesOf(edge: SeenEdge | undefined) {
  if (edge === undefined || edge.rulesVersion === null) return null;
  const { rulesVersion: version, behindSince } = edge;
  return { version, isCurrent: behindSince === null, behindSince };
}

function configOf(edge: SeenEdge | undefined) {
  if (edge === undefined || edge.configVersion === null || edge.configAt === null) return null;
  return { version: edge.configVersion, takenAt: edge.configAt };
}
