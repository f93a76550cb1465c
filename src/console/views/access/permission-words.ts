/** Permissions in words. The name that the API has for each stays beside them. */
import {
  type Feature,
  type Permission,
  type PermissionMap,
  permissionPresets,
} from '../../../contract/management/permissions.ts';

export const featureWords: Readonly<Record<Feature, string>> = {
  Sites: 'Sites',
  AccessRules: 'Captcha rules',
  Traffic: 'Numbers of captchas',
  SearchCaptchaRecords: 'Single captchas',
  Users: 'Users',
  API: 'API keys and audit trail',
  Protect: 'The gate',
};

const permissionWords: Readonly<Record<Permission, string>> = {
  readSites: 'See sites, without secrets',
  getSites: 'See sites with their secrets',
  getSite: 'See one site with its secret',
  createSite: 'Create sites',
  updateSite: 'Change sites',
  deleteSite: 'Deactivate sites',
  getRules: 'See captcha rules',
  createRule: 'Create captcha rules',
  deleteRule: 'Delete captcha rules',
  deleteRuleGroup: 'Delete groups of captcha rules',
  getTraffic: 'See how many captchas were issued and solved',
  searchCaptchaRecords: 'Search captchas',
  getUsers: 'See users',
  createUser: 'Add users',
  updateUser: 'Change roles of users',
  deleteUser: 'Remove users',
  getAuditTrail: 'See the audit trail',
  getApiKeys: 'See API keys',
  createApiKey: 'Create API keys',
  deleteApiKey: 'Delete API keys',
  readProtect: 'See traffic, rules and settings of the gate',
  updateProtectSettings: 'Change rules and settings of the gate',
};

export const permissionLabel = (permission: Permission): string => `${permissionWords[permission]} (${permission})`;

const granted = (permissions: PermissionMap): Permission[] => Object.values(permissions).flat().toSorted();

/** What a key may do: the preset that gives exactly this, or each permission. */
export function permissionsText(permissions: PermissionMap): string {
  const all = granted(permissions);
  const preset = Object.entries(permissionPresets).find(([, given]) => granted(given).join() === all.join());
  return preset?.[0] ?? all.map((permission) => permissionWords[permission]).join(', ');
}
