/**
 * One management operation: its route, the permission it needs, its schemas and its handler, in one
 * value. The router, the permission matrix in the tests and the OpenAPI document are all made from
 * the list of these, so none of them can miss an operation.
 */
import type * as core from 'zod/v4/core';
import type { Feature, Permission, PermissionMap } from '../../contract/management/permissions.ts';
import type { AccountTier } from '../../contract/vocabulary.ts';
import type { ServiceStore } from '../environment.ts';

export interface Account {
  id: string;
  tier: AccountTier;
  /** Features enabled on the account. */
  features: readonly Feature[];
  ownerEmail: string;
  disabled: boolean;
  paymentOwed: boolean;
}

export interface ApiKeyPrincipal {
  id: string;
  name: string;
  permissions: PermissionMap;
}

/** All a handler gets. `body` is parsed; the caller is already authorised. */
export interface OperationContext<Body> {
  store: ServiceStore;
  account: Account;
  apiKey: ApiKeyPrincipal;
  body: Body;
  /** Of this request; in every answer as `X-Request-Id`. */
  requestId: string;
  /** Epoch milliseconds, read once per request. */
  nowMs: number;
  /** Address of this deployment, no trailing slash. */
  serviceUrl: string;
  waitUntil: (work: Promise<unknown>) => void;
}

export interface OperationDefinition<Body extends core.$ZodType> {
  /** Also the OpenAPI operationId and the name of the file. */
  name: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  feature: Feature;
  permission: Permission;
  /** A `write` is refused while the account owes a payment method, and leaves a line in the audit trail. */
  access: 'read' | 'write';
  summary: string;
  body: Body;
  /** Documents the 200 answer. */
  response: core.$ZodType;
  /** Media types of that answer where it is not JSON. */
  responseTypes?: readonly string[];
  /** Body bytes accepted; default 1 MiB. */
  maxBodyBytes?: number;
  handler(context: OperationContext<core.output<Body>>): Promise<Response | object>;
}

export interface Operation extends Omit<OperationDefinition<core.$ZodType>, 'handler'> {
  handler(context: OperationContext<never>): Promise<Response | object>;
}

/** Declares an operation; only narrows types. */
export function operation<Body extends core.$ZodType>(definition: OperationDefinition<Body>): Operation {
  return definition;
}
