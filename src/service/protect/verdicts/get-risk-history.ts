/**
 * `POST /protect/risk-history` (interface document 4.8): how the risk score of one session went, request by
 * request, with what fired.
 */
import { riskHistoryAnswer, sessionRequest } from '../../../contract/verdict-query.ts';
import { operation } from '../../operation.ts';
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
  response: riskHistoryAnswer,
  async handler(context) {
    const { jti, siteKey } = context.body;
    const target = await logTarget(context, siteKey);
    const { records, total } = await sessionVerdicts(context.env, target, jti, HISTORY_MAX);
    const scores = records.map(({ risk_score }) => risk_score).filter((score) => score !== null);
    return {
      jti,
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
      latest_risk_score: scores[0] ?? null,
      highest_risk_score: scores.length === 0 ? null : Math.max(...scores),
      total,
    };
  },
});
