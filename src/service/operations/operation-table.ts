/**
 * Every management operation. The router, the permission matrix in the tests and the OpenAPI document are made from this
 * table alone.
 */
import { searchCaptchaRecords } from './captcha-records/search-captcha-records.ts';
import { userOperations } from './users.ts';
import { apiKeyOperations } from './api-keys.ts';
import { auditTrailOperations } from './audit-trail.ts';
import { accessControlOperations } from './access-control/access-control.ts';
import { alertOperations } from './alerts.ts';
import { siteOperations } from './sites/sites.ts';
import { trafficOperations } from './traffic/captcha-traffic.ts';
import { instanceOperations } from './protect/instances/instances.ts';
import { edgeOperations } from './protect/instances/edges.ts';
import { attackModeOperations } from './protect/attack-mode.ts';
import { botOperations } from './protect/bots/bots.ts';
import { listOperations } from './protect/lists/lists.ts';
import { listReadingOperations } from './protect/lists/read-lists.ts';
import { policyOperations } from './protect/policies/policies.ts';
import { policyTestOperations } from './protect/policies/test-policies.ts';
import { policyVersionOperations } from './protect/policies/policy-versions.ts';
import { accessRuleWriteOperations } from './protect/access-rules/write-access-rules.ts';
import { accessRuleFileOperations } from './protect/access-rules/rule-files.ts';
import { accessRuleVersionOperations } from './protect/access-rules/rule-versions.ts';
import { searchVerdicts, verdictOperations } from './protect/verdicts/verdict-pages.ts';
import { distinctOperations } from './protect/verdicts/distinct-values.ts';
import { eraseSessionOperation, getRiskHistory, sessionOperations } from './protect/verdicts/sessions.ts';
import { trafficSeriesOperations } from './protect/verdicts/traffic-series.ts';
import type { Operation } from './define-operation.ts';
import { explainAccessRules } from './protect/access-rules/explain-access-rules.ts';
import { getAccessRuleHits } from './protect/access-rules/get-access-rule-hits.ts';
import { listAccessRules } from './protect/access-rules/list-access-rules.ts';
import { previewAccessRules } from './protect/access-rules/preview-access-rules.ts';
import { getRobots } from './protect/bots/get-robots.ts';
import { getBotTraffic } from './protect/bots/get-bot-traffic.ts';
import { previewLimits } from './protect/limits/preview-limits.ts';
import { previewRuleList } from './protect/lists/preview-rule-list.ts';
import { importPolicies } from './protect/policies/import-policies.ts';
import { previewPolicies } from './protect/policies/preview-policies.ts';
import { explainVerdictOperation } from './protect/verdicts/explain-verdict.ts';
import { findReference } from './protect/verdicts/find-reference.ts';
import { exportVerdicts } from './protect/verdicts/export-verdicts.ts';
import { getMetrics } from './protect/verdicts/get-metrics.ts';
import { getOriginLatency } from './protect/verdicts/get-origin-latency.ts';
import { rebuildLog } from './protect/verdicts/rebuild-log.ts';

export const operations: readonly Operation[] = [
  ...siteOperations,
  ...accessControlOperations,
  ...trafficOperations,
  searchCaptchaRecords,
  ...userOperations,
  ...apiKeyOperations,
  ...auditTrailOperations,
  ...listOperations,
  ...listReadingOperations,
  previewRuleList,
  ...alertOperations,
  ...instanceOperations,
  ...edgeOperations,
  getRobots,
  ...attackModeOperations,
  listAccessRules,
  ...accessRuleWriteOperations,
  getAccessRuleHits,
  explainAccessRules,
  previewAccessRules,
  ...accessRuleFileOperations,
  ...accessRuleVersionOperations,
  ...policyOperations,
  ...policyTestOperations,
  previewPolicies,
  importPolicies,
  ...policyVersionOperations,
  previewLimits,
  ...botOperations,
  ...verdictOperations,
  explainVerdictOperation,
  findReference,
  ...distinctOperations,
  ...trafficSeriesOperations,
  getBotTraffic,
  getOriginLatency,
  ...sessionOperations,
  getMetrics,
  getRiskHistory,
  exportVerdicts,
  eraseSessionOperation,
  rebuildLog,
  searchVerdicts,
];
