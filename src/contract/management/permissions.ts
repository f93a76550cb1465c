/**
 * Features and permissions of the management API. Both `permissions` of an API key and `features` of an account use
 * these feature names as keys.
 */

export const featurePermissions = {
  Sites: ['readSites', 'getSites', 'getSite', 'createSite', 'updateSite', 'deleteSite'],
  AccessRules: ['getRules', 'createRule', 'deleteRule', 'deleteRuleGroup'],
  Traffic: ['getTraffic'],
  SearchCaptchaRecords: ['searchCaptchaRecords'],
  Users: ['getUsers', 'createUser', 'updateUser', 'deleteUser'],
  API: ['getAuditTrail', 'getApiKeys', 'createApiKey', 'deleteApiKey'],
  Protect: ['readProtect', 'updateProtectSettings'],
} as const;

export type Feature = keyof typeof featurePermissions;
export type Permission = { [F in Feature]: (typeof featurePermissions)[F][number] }[Feature];
export const features = Object.keys(featurePermissions) as Feature[];

export type PermissionMap = Partial<Record<Feature, readonly Permission[]>>;

/** What a permission gives beyond its name. The console and the OpenAPI document say it beside the permission. */
export const permissionPowers: Partial<Record<Permission, string>> = {
  getSites: 'Shows the secret key of every site. readSites does not.',
  getSite: 'Shows the secret key of the site. readSites does not.',
  createUser: 'Can make an admin, so it is as powerful as all permissions together.',
  updateUser: 'Can make an admin, so it is as powerful as all permissions together.',
  getApiKeys: 'Shows every key with its token, so it is as powerful as all keys together.',
  createApiKey: 'Can grant any permission, so it is as powerful as all permissions together.',
};

/** For monitoring and reports: nothing can be changed with them, and no secret is shown. */
export const readOnlyPermissions: PermissionMap = {
  Sites: ['readSites'],
  AccessRules: ['getRules'],
  Traffic: ['getTraffic'],
  SearchCaptchaRecords: ['searchCaptchaRecords'],
  Protect: ['readProtect'],
};

/** What most keys are for. The console offers them by these names. */
export const permissionPresets: Readonly<Record<string, PermissionMap>> = {
  'Read only': readOnlyPermissions,
  'Protect only': { Protect: featurePermissions.Protect },
  Everything: featurePermissions,
};

/** The permission that allows every call of a feature which only reads, and shows no secret. */
const readers: Partial<Record<Feature, Permission>> = { Sites: 'readSites', Protect: 'readProtect' };

/** The permissions of which a key needs one. */
export function permissionsFor(call: {
  feature: Feature;
  permission: Permission;
  access: 'read' | 'write';
}): readonly Permission[] {
  const reader = call.access === 'read' ? readers[call.feature] : undefined;
  return reader === undefined ? [call.permission] : [reader, call.permission];
}

/**
 * Roles of team members, and what each may do in the console. A role grants permissions of the same table as an API key
 * does, so one check serves both. What is not listed here is refused.
 */
export const userRoles = ['admin', 'analyst', 'viewer'] as const;
export type UserRole = (typeof userRoles)[number];

/** The owner of an account has the permissions of an admin, and cannot be changed or removed through the API. */
const rolePermissions: Readonly<Record<UserRole, PermissionMap>> = {
  admin: featurePermissions,
  analyst: {
    Sites: ['readSites'],
    AccessRules: ['getRules'],
    Traffic: ['getTraffic'],
    SearchCaptchaRecords: ['searchCaptchaRecords'],
    Users: ['getUsers'],
    Protect: ['readProtect'],
  },
  viewer: {
    Sites: ['readSites'],
    AccessRules: ['getRules'],
    Traffic: ['getTraffic'],
    Protect: ['readProtect'],
  },
};

export function permissionsOfRole(role: UserRole): PermissionMap {
  return rolePermissions[role];
}
