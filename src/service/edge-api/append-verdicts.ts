/**
 * `POST /edge/v1/verdicts`: an edge appends a batch to the log of its instance. The response comes once the rows are
 * durable. So after a 200 no retry is needed, and a retry does no harm. An edge whose clock is wrong is told the time, and
 * sends the batch again with corrected records.
 */
import { verdictBatch } from '../../contract/edge/edge-api.ts';
import { CLOCK_SKEW_MAX_MS, SENT_AT_HEADER } from '../../contract/edge/record-bounds.ts';
import { readBodyAs } from '../http/body/read-body.ts';
import { jsonResponse } from '../http/json-response.ts';
import { errorResponse } from '../http/respond-error.ts';
import { acceptBatch } from '../ingest/accept-batch.ts';
import { feedAttackWatch } from '../attack/feed.ts';
import type { EdgeRoute } from './edge-route.ts';
import { noteSender } from './note-edge.ts';

/** 500 records of 16 kB. The edge cuts each text of a record at 1,024 characters. */
const VERDICTS_BODY_MAX_BYTES = 8 * 1024 * 1024;

export const appendVerdicts: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/verdicts',
  async handler(call) {
    const { store, instance, request, requestId, nowMs } = call;
    const sentAt = Number(request.headers.get(SENT_AT_HEADER) ?? nowMs);
    if (Math.abs(sentAt - nowMs) > CLOCK_SKEW_MAX_MS) {
      return jsonResponse({ now: nowMs }, 409, { [SENT_AT_HEADER]: String(nowMs) });
    }
    const body = await readBodyAs(verdictBatch, request, VERDICTS_BODY_MAX_BYTES);
    if (!body.ok) return errorResponse(body.error);
    const batch = { ...body.value, batchId: body.value.batchId ?? requestId };
    noteSender(call, batch.records);
    const answer = await acceptBatch(store, instance, batch, nowMs);
    if (answer.accepted > 0) feedAttackWatch(call, instance, batch.records, nowMs);
    return jsonResponse(answer);
  },
};
