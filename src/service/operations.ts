/**
 * Every management operation there is. The router, the permission matrix and the OpenAPI document
 * are made from this list alone.
 */
import type { Operation } from './operation.ts';
import { accessRulesHistory } from './protect/access-rules/access-rules-history.ts';
import { createAccessRules } from './protect/access-rules/create-access-rules.ts';
import { deleteAccessRules } from './protect/access-rules/delete-access-rules.ts';
import { exportAccessRules } from './protect/access-rules/export-access-rules.ts';
import { importAccessRules } from './protect/access-rules/import-access-rules.ts';
import { listAccessRules } from './protect/access-rules/list-access-rules.ts';
import { rollbackAccessRules } from './protect/access-rules/rollback-access-rules.ts';
import { createInstance } from './protect/instances/create-instance.ts';
import { deleteInstance } from './protect/instances/delete-instance.ts';
import { generateClientJwt } from './protect/instances/generate-client-jwt.ts';
import { listClientJwts } from './protect/instances/list-client-jwts.ts';
import { listInstances } from './protect/instances/list-instances.ts';
import { revokeClientJwt } from './protect/instances/revoke-client-jwt.ts';
import { updateInstance } from './protect/instances/update-instance.ts';

export const operations: readonly Operation[] = [
  listInstances,
  createInstance,
  updateInstance,
  deleteInstance,
  generateClientJwt,
  listClientJwts,
  revokeClientJwt,
  listAccessRules,
  createAccessRules,
  deleteAccessRules,
  importAccessRules,
  exportAccessRules,
  accessRulesHistory,
  rollbackAccessRules,
];
