/**
 * `/__protect/*`: the edge's own first-party endpoints (design 3.3). The decision has been made before
 * a call gets here; a blocked visitor gets no further. POSTs come from the site's own pages only, are
 * small, and are limited per network. Routed by the canonical path, like everything else.
 */
import { Hono } from 'hono/tiny';
import { protectPrefix } from '../../contract/edge/headers.ts';
import type { Edge } from '../isolate/edge.ts';
import type { Passage } from '../request/passage.ts';
import { block, jsonError } from '../answer/respond.ts';
import { takeWait } from '../challenge/wait-lane.ts';
import { serveAsset } from './assets.ts';
import { passChallengeCall } from './challenge.ts';
import { admitPost } from './admission.ts';
import { health } from './health.ts';
import { openSession } from './session.ts';
import { passTelemetry } from './telemetry.ts';
import { verifyForClearance } from './verify.ts';

export interface ProtectCall {
  passage: Passage;
  edge: Edge;
  ctx: ExecutionContext;
}

const app = new Hono<{ Bindings: ProtectCall }>({
  getPath: (_request, options) => (options!.env as ProtectCall).passage.target!.path,
});

app.use(`${protectPrefix}*`, async (context, next) => {
  const refusal = await admitPost(context.env, context.req.raw);
  if (refusal) return refusal;
  return next();
});
app.get(`${protectPrefix}health`, (context) => health(context.env));
app.post(`${protectPrefix}challenge`, (context) => passChallengeCall(context.env, 'challenge'));
app.post(`${protectPrefix}solution`, (context) => passChallengeCall(context.env, 'solution'));
app.post(`${protectPrefix}verify`, (context) => verifyForClearance(context.env));
app.post(`${protectPrefix}session`, (context) => openSession(context.env));
app.post(`${protectPrefix}telemetry`, (context) => passTelemetry(context.env));
app.get(`${protectPrefix}wait`, (context) => takeWait(context.env.passage, context.env.edge));
app.get(`${protectPrefix}:file{[a-z-]+\\.js}`, (context) => serveAsset(context.env, context.req.param('file')));
app.notFound((context) => jsonError(context.env.passage, 'API.NOT_FOUND', 'There is nothing at this address.'));
app.onError((error) => {
  throw error;
});

export async function answerProtectCall(passage: Passage, edge: Edge, ctx: ExecutionContext): Promise<Response> {
  const { verdict } = passage;
  const pathType = passage.target!.path === `${protectPrefix}wait` ? 'html' : 'json';
  if (passage.path) passage.path = { ...passage.path, pathType };
  if (verdict) {
    const blocked = verdict.decision === 'block' && verdict.enforcementPolicy === 'enforce';
    passage.verdict = blocked
      ? { ...verdict, source: 'internal' }
      : { ...verdict, decision: 'allow', source: 'internal', status: null };
    if (blocked) return block(passage);
  }
  return app.fetch(passage.request, { passage, edge, ctx });
}
