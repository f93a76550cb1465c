/**
 * Features and permissions of the management API. Both `permissions` of an API key and `features` of an account use
 * these feature names as keys.
 */
export const featurePermissions = {
  Sites: ['getSites', 'getSite', 'createSite', 'updateSite', 'deleteSite'],
  AccessRules: ['getRules', 'createRule', 'deleteRule', 'deleteRuleGroup'],
  Traffic: ['getTraffic'],
  SearchCaptchaRecords: ['searchCaptchaRecords'],
  Users: ['getUsers', 'createUser', 'updateUser', 'deleteUser'],
  API: ['getApiKeys', 'createApiKey', 'deleteApiKey'],
  Protect: ['readProtect', 'updateProtectSettings'],
} as const;

export type Feature = keyof typeof featurePermissions;
export type Permission = { [F in Feature]: (typeof featurePermissions)[F][number] }[Feature];
export const features = Object.keys(featurePermissions) as Feature[];

export type PermissionMap = Partial<Record<Feature, readonly Permission[]>>;

/** The permissions of which a key needs one. A monitoring system reads Protect and must not be able to change it. */
export function permissionsFor(call: {
  feature: Feature;
  permission: Permission;
  access: 'read' | 'write';
}): readonly Permission[] {
  const mayOnlyRead = call.feature === 'Protect' && call.access === 'read';
  return mayOnlyRead ? ['readProtect', call.permission] : [call.permission];
}
