/**
 * `POST /protect/risk-history`: the risk score of one session, request by request with the rules that fired, and every
 * change of the score with its parts and its cause.
 */
import { detectorsOf } from '../../../../contract/edge/risk-detectors.ts';
import { riskHistoryResponse, sessionRequest } from '../../../../contract/management/verdict-query.ts';
import { riskParts } from '../../../../risk/session-score.ts';
import { operation } from '../../define-operation.ts';
import { readRisk } from '../../../../store/risk-book/client/session-risk.ts';
import { sessionVerdicts } from './session-verdicts.ts';
import { logTarget } from './verdict-log-query.ts';

const HISTORY_MAX = 1000;

export const getRiskHistory = operation({
  name: 'get-risk-history',
  method: 'POST',
  path: '/protect/risk-history',
  feature: 'Protect',
  permission: 'updateProtectSettings',
  access: 'read',
  summary: 'Risk score history for one session',
  body: sessionRequest,
  response: riskHistoryResponse,
  async handler(context) {
    const { jti, siteKey } = context.body;
    const target = await logTarget(context, siteKey);
    const [{ records, total }, session] = await Promise.all([
      sessionVerdicts(context.store, target, jti, HISTORY_MAX),
      readRisk(context.store, target.instance.id, jti),
    ]);
    const scores = records.map(({ risk_score }) => risk_score).filter((score) => score !== null);
    return {
      jti,
      scores: (session?.history ?? []).map(({ at, score, detectors, ignored, cause }) => ({
        timestamp: at,
        risk_score: score,
        cause,
        parts: riskParts(detectors),
        ignored: detectorsOf(ignored),
      })),
      history: records.toReversed().map((record) => ({
        timestamp: record.timestamp,
        id: record.id,
        request_id: record.request_id,
        risk_score: record.risk_score,
        decision: record.decision,
        source: record.source,
        decided_by: record.decided_by,
        request_path: record.request_path,
        fired_rules: record.fired_rules.map(({ id }) => id),
      })),
      latest_risk_score: session?.score ?? scores[0] ?? null,
      highest_risk_score: highest([...scores, ...(session?.history ?? []).map(({ score }) => score)]),
      total,
    };
  },
});

function highest(scores: readonly number[]): number | null {
  return scores.length === 0 ? null : Math.max(...scores);
}
