/**
 * One management operation as one value: its route, the permission it needs, its schemas and its handler. The router,
 * the permission matrix in the tests and the OpenAPI document are all made from the table of these values, so none of
 * them can miss an operation.
 */
import type { WaitUntil } from '../../bytes/polled.ts';
import type * as core from 'zod/v4/core';
import type { Feature, Permission, PermissionMap } from '../../contract/management/permissions.ts';
import type { AccountTier } from '../../contract/vocabulary.ts';
import type { ServiceStore } from '../environment.ts';
import type { OutboundSettings } from '../outbound-variables.ts';

export interface Account {
  id: string;
  tier: AccountTier;
  /** Features that are enabled on the account. */
  features: readonly Feature[];
  ownerEmail: string;
  disabled: boolean;
  paymentOwed: boolean;
}

/** Who calls: an API key, or a team member who is signed in to the console. */
export interface Principal {
  kind: 'api-key' | 'user';
  /** Of the key; of a user, their address. */
  id: string;
  name: string;
  /** Of the key, or of the role of the user. */
  permissions: PermissionMap;
}

/** Everything that a handler gets. The caller is authorised, and `body` matches the schema. */
export interface OperationContext<Body> {
  store: ServiceStore;
  account: Account;
  principal: Principal;
  body: Body;
  /** In every response as `X-Request-Id`. */
  requestId: string;
  /** Epoch milliseconds, read once per request. */
  nowMs: number;
  /** Public address of this deployment, without a trailing slash. */
  serviceUrl: string;
  /** For calls to addresses that an operator chose. */
  outbound: OutboundSettings;
  waitUntil: WaitUntil;
  /** Of the operation that is called. */
  access: 'read' | 'write';
  /** Added to a response that is no refusal. */
  responseHeaders: Headers;
}

export interface OperationDefinition<Body extends core.$ZodType> {
  /** Also the `operationId` in OpenAPI, and the name of the file. */
  name: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  feature: Feature;
  permission: Permission;
  /** A `write` is refused while the account has no valid payment method, and leaves an entry in the audit trail. */
  access: 'read' | 'write';
  summary: string;
  body: Body;
  /** Documents the 200 response. */
  response: core.$ZodType;
  /** Media types of the 200 response, unless it is JSON. */
  responseTypes?: readonly string[];
  /** Largest body; default 1 MiB. */
  maxBodyBytes?: number;
  handler(context: OperationContext<core.output<Body>>): Promise<Response | object>;
}

export interface Operation extends Omit<OperationDefinition<core.$ZodType>, 'handler'> {
  handler(context: OperationContext<never>): Promise<Response | object>;
}

/** Declares an operation. At run time it returns its argument; it only infers types. */
export function operation<Body extends core.$ZodType>(definition: OperationDefinition<Body>): Operation {
  return definition;
}
