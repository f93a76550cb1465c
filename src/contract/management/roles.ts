/**
 * Roles of team members, and what each may do in the console. A role grants permissions of the same table as an API key
 * does, so one check serves both. What is not listed here is refused.
 */
import { featurePermissions, type PermissionMap } from './permissions.ts';

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
