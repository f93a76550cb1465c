/** The endpoints of the HTTP interface, written out: what a client may rely on does not follow from the code. */
import type { Feature, Permission } from '../../src/contract/management/permissions.ts';

export interface Endpoint {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  feature: Feature;
  permission: Permission;
  /** Writes are refused while the account owes a payment method. */
  isWrite: boolean;
}

const endpoint =
  (feature: Feature) =>
  (line: string, permission: Permission, access: 'read' | 'write'): Endpoint => {
    const [method, path] = line.split(' ') as [Endpoint['method'], string];
    return { method, path, feature, permission, isWrite: access === 'write' };
  };
const [sites, rules, traffic, users, keys, protect] = [
  endpoint('Sites'),
  endpoint('AccessRules'),
  endpoint('Traffic'),
  endpoint('Users'),
  endpoint('API'),
  endpoint('Protect'),
];

/** All that take an API key; `/siteverify` takes a site secret. */
export const endpoints: readonly Endpoint[] = [
  sites('POST /sites/get', 'getSites', 'read'),
  sites('POST /site/get', 'getSite', 'read'),
  sites('POST /sites/create', 'createSite', 'write'),
  sites('POST /sites/update', 'updateSite', 'write'),
  sites('POST /sites/delete', 'deleteSite', 'write'),
  sites('POST /sites/activate', 'updateSite', 'write'),
  rules('POST /access-control/get', 'getRules', 'read'),
  rules('POST /access-control/create', 'createRule', 'write'),
  rules('POST /access-control/delete', 'deleteRule', 'write'),
  rules('POST /access-control/group/delete', 'deleteRuleGroup', 'write'),
  traffic('POST /gettrafficdata', 'getTraffic', 'read'),
  traffic('POST /getlivesessions', 'getTraffic', 'read'),
  endpoint('SearchCaptchaRecords')('POST /audit/searchcaptcharecords', 'searchCaptchaRecords', 'read'),
  users('GET /users/get', 'getUsers', 'read'),
  users('POST /users/create', 'createUser', 'write'),
  users('PUT /users/update', 'updateUser', 'write'),
  users('POST /users/delete', 'deleteUser', 'write'),
  keys('POST /api-keys/get', 'getApiKeys', 'read'),
  keys('POST /api-keys/create', 'createApiKey', 'write'),
  keys('POST /api-keys/delete', 'deleteApiKey', 'write'),
  protect('POST /protect/instances', 'updateProtectSettings', 'read'),
  protect('POST /protect/instances/create', 'updateProtectSettings', 'write'),
  protect('POST /protect/instances/update', 'updateProtectSettings', 'write'),
  protect('POST /protect/instances/delete', 'updateProtectSettings', 'write'),
  protect('POST /protect/client-jwt/generate', 'updateProtectSettings', 'write'),
  protect('POST /protect/verdicts', 'updateProtectSettings', 'read'),
  protect('POST /protect/verdicts/search', 'updateProtectSettings', 'read'),
  protect('POST /protect/verdicts/distinct-sources', 'updateProtectSettings', 'read'),
  protect('POST /protect/verdicts/distinct-fired-rules', 'updateProtectSettings', 'read'),
  protect('POST /protect/risk-history', 'updateProtectSettings', 'read'),
  protect('POST /protect/session-telemetry', 'updateProtectSettings', 'read'),
  protect('POST /protect/traffic-summary', 'updateProtectSettings', 'read'),
  protect('POST /protect/traffic-by-dimension', 'updateProtectSettings', 'read'),
  protect('POST /protect/access-rules', 'updateProtectSettings', 'read'),
  protect('POST /protect/access-rules/create', 'updateProtectSettings', 'write'),
  protect('POST /protect/access-rules/delete', 'updateProtectSettings', 'write'),
];
