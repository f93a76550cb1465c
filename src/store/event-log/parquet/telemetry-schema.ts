/** Reports of the protect script as Parquet columns: whose they are, then the fields of the report in its order. */
import type { TelemetryTrait } from '../../../contract/edge/page-report-names.ts';
import type { TelemetryRecord } from '../telemetry-record.ts';
import { type FlatOf, integer, moment, type StreamSchema, text, texts } from './stream-schema.ts';

const packed = { isPacked: true };
const statistics = { hasStatistics: true };
const counted = { ...packed, hadPackedDeltas: true };

const columns = {
  id: text({ ...packed, ...statistics }),
  timestamp: moment(statistics),
  instance_id: text(),
  jti: text({ ...packed, ...statistics }),
  elapsed_ms: integer(counted),
  visible_ms: integer(counted),
  first_interaction_ms: integer({ ...packed, nullable: true }),
  pointer_moves: integer(packed),
  presses: integer(packed),
  touches: integer(packed),
  leaps: integer(packed),
  keys: integer(packed),
  wheels: integer(packed),
  scrolls: integer(packed),
  untrusted: integer(packed),
  key_gaps: integer(packed),
  key_gap_mean_ms: integer(packed),
  key_gap_deviation_ms: integer(packed),
  traits: texts(),
  service_isolate: text(),
  service_seq: integer({ ...packed, ...statistics }),
};

export const telemetrySchema: StreamSchema<FlatOf<typeof columns>> = {
  columns,

  flatten({ id, timestamp, instance_id, jti, report, edge }: TelemetryRecord) {
    return {
      id,
      timestamp,
      instance_id,
      jti,
      elapsed_ms: report.elapsedMs,
      visible_ms: report.visibleMs,
      first_interaction_ms: report.firstInteractionMs,
      pointer_moves: report.pointerMoves,
      presses: report.presses,
      touches: report.touches,
      leaps: report.leaps,
      keys: report.keys,
      wheels: report.wheels,
      scrolls: report.scrolls,
      untrusted: report.untrusted,
      key_gaps: report.keyGaps,
      key_gap_mean_ms: report.keyGapMeanMs,
      key_gap_deviation_ms: report.keyGapDeviationMs,
      traits: report.traits,
      service_isolate: edge.isolate,
      service_seq: edge.seq,
    };
  },

  json(flat) {
    const record: TelemetryRecord = {
      v: 1,
      id: flat.id,
      timestamp: flat.timestamp,
      instance_id: flat.instance_id,
      jti: flat.jti,
      report: {
        v: 1,
        elapsedMs: flat.elapsed_ms,
        visibleMs: flat.visible_ms,
        firstInteractionMs: flat.first_interaction_ms,
        pointerMoves: flat.pointer_moves,
        presses: flat.presses,
        touches: flat.touches,
        leaps: flat.leaps,
        keys: flat.keys,
        wheels: flat.wheels,
        scrolls: flat.scrolls,
        untrusted: flat.untrusted,
        keyGaps: flat.key_gaps,
        keyGapMeanMs: flat.key_gap_mean_ms,
        keyGapDeviationMs: flat.key_gap_deviation_ms,
        traits: flat.traits as TelemetryTrait[],
      },
      edge: { isolate: flat.service_isolate, seq: flat.service_seq },
    };
    return JSON.stringify(record);
  },
};
