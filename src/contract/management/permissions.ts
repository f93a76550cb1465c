/**
 * Features and permissions of the management API (interface document 5.9). The map keys of `permissions` on
 * an API key and of `features` on an account are these feature names.
 */
export const featurePermissions = {
  Sites: ['getSites', 'getSite', 'createSite', 'updateSite', 'deleteSite'],
  AccessRules: ['getRules', 'createRule', 'deleteRule', 'deleteRuleGroup'],
  Traffic: ['getTraffic'],
  SearchCaptchaRecords: ['searchCaptchaRecords'],
  Users: ['getUsers', 'createUser', 'updateUser', 'deleteUser'],
  API: ['getApiKeys', 'createApiKey', 'deleteApiKey'],
  Protect: ['updateProtectSettings'],
} as const;

export type Feature = keyof typeof featurePermissions;
export type Permission = { [F in Feature]: (typeof featurePermissions)[F][number] }[Feature];
export const features = Object.keys(featurePermissions) as Feature[];

export type PermissionMap = Partial<Record<Feature, readonly Permission[]>>;
