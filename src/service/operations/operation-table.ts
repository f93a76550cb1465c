/**
 * Every management operation. The router, the permission matrix in the tests and the OpenAPI document are made from this
 * table alone.
 */
import { createAccessControlRule } from './access-control/create-access-control-rule.ts';
import { deleteAccessControlRule } from './access-control/delete-access-control-rule.ts';
import { deleteRuleGroup } from './access-control/delete-rule-group.ts';
import { getAccessControlRules } from './access-control/get-access-control-rules.ts';
import { getRuleGroupJob } from './access-control/get-rule-group-job.ts';
import { createAlertChannel } from './alerts/create-alert-channel.ts';
import { deleteAlertChannel } from './alerts/delete-alert-channel.ts';
import { listAlertChannels } from './alerts/list-alert-channels.ts';
import { listAlerts } from './alerts/list-alerts.ts';
import { rotateAlertChannelSecret } from './alerts/rotate-alert-channel-secret.ts';
import { testAlertChannel } from './alerts/test-alert-channel.ts';
import { updateAlertChannel } from './alerts/update-alert-channel.ts';
import { createApiKey } from './api-keys/create-api-key.ts';
import { deleteApiKey } from './api-keys/delete-api-key.ts';
import { getApiKeys } from './api-keys/get-api-keys.ts';
import { searchCaptchaRecords } from './captcha-records/search-captcha-records.ts';
import { getAuditTrail } from './audit-trail/get-audit-trail.ts';
import type { Operation } from './define-operation.ts';
import { getAttackMode } from './protect/attack-mode/get-attack-mode.ts';
import { setAttackMode } from './protect/attack-mode/set-attack-mode.ts';
import { accessRulesHistory } from './protect/access-rules/access-rules-history.ts';
import { createAccessRules } from './protect/access-rules/create-access-rules.ts';
import { deleteAccessRules } from './protect/access-rules/delete-access-rules.ts';
import { explainAccessRules } from './protect/access-rules/explain-access-rules.ts';
import { exportAccessRules } from './protect/access-rules/export-access-rules.ts';
import { getAccessRuleHits } from './protect/access-rules/get-access-rule-hits.ts';
import { importAccessRules } from './protect/access-rules/import-access-rules.ts';
import { listAccessRules } from './protect/access-rules/list-access-rules.ts';
import { previewAccessRules } from './protect/access-rules/preview-access-rules.ts';
import { rollbackAccessRules } from './protect/access-rules/rollback-access-rules.ts';
import { addOwnBot } from './protect/bots/add-own-bot.ts';
import { getBot } from './protect/bots/get-bot.ts';
import { listBotLists } from './protect/bots/list-bot-lists.ts';
import { listBots } from './protect/bots/list-bots.ts';
import { listOwnBots } from './protect/bots/list-own-bots.ts';
import { removeOwnBot } from './protect/bots/remove-own-bot.ts';
import { getRobots } from './protect/bots/get-robots.ts';
import { getBotTraffic } from './protect/bots/get-bot-traffic.ts';
import { createInstance } from './protect/instances/create-instance.ts';
import { deleteInstance } from './protect/instances/delete-instance.ts';
import { generateClientJwt } from './protect/instances/generate-client-jwt.ts';
import { listClientJwts } from './protect/instances/list-client-jwts.ts';
import { listEdges } from './protect/instances/list-edges.ts';
import { listInstances } from './protect/instances/list-instances.ts';
import { listOriginKeys } from './protect/instances/list-origin-keys.ts';
import { revokeClientJwt } from './protect/instances/revoke-client-jwt.ts';
import { updateInstance } from './protect/instances/update-instance.ts';
import { createRuleList } from './protect/lists/create-rule-list.ts';
import { deleteRuleList } from './protect/lists/delete-rule-list.ts';
import { listRuleLists } from './protect/lists/list-rule-lists.ts';
import { previewLimits } from './protect/limits/preview-limits.ts';
import { previewRuleList } from './protect/lists/preview-rule-list.ts';
import { refreshRuleList } from './protect/lists/refresh-rule-list.ts';
import { replaceRuleList } from './protect/lists/replace-rule-list.ts';
import { updateRuleList } from './protect/lists/update-rule-list.ts';
import { addPolicy } from './protect/policies/add-policy.ts';
import { checkPolicy } from './protect/policies/check-policy.ts';
import { diffPolicies } from './protect/policies/diff-policies.ts';
import { getPolicies } from './protect/policies/get-policies.ts';
import { importPolicies } from './protect/policies/import-policies.ts';
import { movePolicy } from './protect/policies/move-policy.ts';
import { policiesHistory } from './protect/policies/policies-history.ts';
import { previewPolicies } from './protect/policies/preview-policies.ts';
import { removePolicy } from './protect/policies/remove-policy.ts';
import { rollbackPolicies } from './protect/policies/rollback-policies.ts';
import { setPolicies } from './protect/policies/set-policies.ts';
import { testPolicies } from './protect/policies/test-policies.ts';
import { updatePolicy } from './protect/policies/update-policy.ts';
import { eraseSessionOperation } from './protect/verdicts/erase-session.ts';
import { explainVerdictOperation } from './protect/verdicts/explain-verdict.ts';
import { findReference } from './protect/verdicts/find-reference.ts';
import { exportVerdicts } from './protect/verdicts/export-verdicts.ts';
import { getMetrics } from './protect/verdicts/get-metrics.ts';
import { getOriginLatency } from './protect/verdicts/get-origin-latency.ts';
import { getRiskHistory } from './protect/verdicts/get-risk-history.ts';
import { getSessionTelemetry } from './protect/verdicts/get-session-telemetry.ts';
import { getTrafficByDimension } from './protect/verdicts/get-traffic-by-dimension.ts';
import { getTrafficSummary } from './protect/verdicts/get-traffic-summary.ts';
import { listDistinctFiredRules } from './protect/verdicts/list-distinct-fired-rules.ts';
import { listDistinctSources } from './protect/verdicts/list-distinct-sources.ts';
import { listSessions } from './protect/verdicts/list-sessions.ts';
import { listVerdicts } from './protect/verdicts/list-verdicts.ts';
import { rebuildLog } from './protect/verdicts/rebuild-log.ts';
import { searchVerdicts } from './protect/verdicts/search-verdicts.ts';
import { tailVerdicts } from './protect/verdicts/tail-verdicts.ts';
import { activateSite } from './sites/activate-site.ts';
import { createSite } from './sites/create-site.ts';
import { deleteSite } from './sites/delete-site.ts';
import { getSite } from './sites/get-site.ts';
import { getSites } from './sites/get-sites.ts';
import { updateSite } from './sites/update-site.ts';
import { getLiveSessions } from './traffic/get-live-sessions.ts';
import { getTrafficData } from './traffic/get-traffic-data.ts';
import { createUser } from './users/create-user.ts';
import { deleteUser } from './users/delete-user.ts';
import { getUsers } from './users/get-users.ts';
import { updateUser } from './users/update-user.ts';

export const operations: readonly Operation[] = [
  getSites,
  getSite,
  createSite,
  updateSite,
  deleteSite,
  activateSite,
  getAccessControlRules,
  createAccessControlRule,
  deleteAccessControlRule,
  deleteRuleGroup,
  getRuleGroupJob,
  getTrafficData,
  getLiveSessions,
  searchCaptchaRecords,
  getUsers,
  createUser,
  updateUser,
  deleteUser,
  getApiKeys,
  createApiKey,
  deleteApiKey,
  getAuditTrail,
  listRuleLists,
  createRuleList,
  updateRuleList,
  deleteRuleList,
  refreshRuleList,
  replaceRuleList,
  previewRuleList,
  listAlerts,
  listAlertChannels,
  createAlertChannel,
  updateAlertChannel,
  deleteAlertChannel,
  rotateAlertChannelSecret,
  testAlertChannel,
  listInstances,
  createInstance,
  updateInstance,
  deleteInstance,
  generateClientJwt,
  listClientJwts,
  revokeClientJwt,
  listEdges,
  listOriginKeys,
  getRobots,
  getAttackMode,
  setAttackMode,
  listAccessRules,
  createAccessRules,
  deleteAccessRules,
  getAccessRuleHits,
  explainAccessRules,
  previewAccessRules,
  importAccessRules,
  exportAccessRules,
  accessRulesHistory,
  rollbackAccessRules,
  getPolicies,
  setPolicies,
  addPolicy,
  updatePolicy,
  movePolicy,
  removePolicy,
  checkPolicy,
  testPolicies,
  previewPolicies,
  importPolicies,
  policiesHistory,
  diffPolicies,
  rollbackPolicies,
  previewLimits,
  listBots,
  getBot,
  listBotLists,
  listOwnBots,
  addOwnBot,
  removeOwnBot,
  listVerdicts,
  tailVerdicts,
  explainVerdictOperation,
  findReference,
  listDistinctSources,
  listDistinctFiredRules,
  getTrafficSummary,
  getTrafficByDimension,
  getBotTraffic,
  getOriginLatency,
  listSessions,
  getSessionTelemetry,
  getMetrics,
  getRiskHistory,
  exportVerdicts,
  eraseSessionOperation,
  rebuildLog,
  searchVerdicts,
];
