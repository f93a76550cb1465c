/**
 * `POST /edge/v1/verdicts` (design 4, 7): an edge appends a batch to its own instance's log. Answers
 * once the rows are durable, so a 200 means that no retry is needed and a retry does no harm.
 */
import { verdictBatch } from '../../contract/edge/edge-api.ts';
import { parseWithSchema } from '../http/body/parse-with-schema.ts';
import { readBody } from '../http/body/read-body.ts';
import { acceptBatch } from '../ingest/accept-batch.ts';
import { jsonResponse } from '../http/respond-error.ts';
import type { EdgeRoute } from './edge-route.ts';

/** 500 records of 8 kB: a record's texts are cut at 1,024 characters each. */
const VERDICTS_BODY_MAX_BYTES = 4 * 1024 * 1024;

export const appendVerdicts: EdgeRoute = {
  method: 'POST',
  path: '/edge/v1/verdicts',
  async handler({ store, instance, request, requestId, nowMs }) {
    const { batchId, records, counters } = parseWithSchema(
      verdictBatch,
      await readBody(request, VERDICTS_BODY_MAX_BYTES),
    );
    return jsonResponse(
      await acceptBatch(store, instance, { batchId: batchId ?? requestId, records, counters }, nowMs),
    );
  },
};
