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
import type { ChangeNotes } from './change-notes.ts';
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
  /** A write notes here what it has changed, for the audit trail. */
  changes: ChangeNotes;
}

interface Definition<Body extends core.$ZodType> {
  /** Also the `operationId` in OpenAPI. */
  name: string;
  /** Default: `POST`. */
  method?: Operation['method'];
  path: string;
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

interface FeatureDefinition<Body extends core.$ZodType> extends Definition<Body> {
  feature: Feature;
  permission: Permission;
}

export interface Operation extends Omit<FeatureDefinition<core.$ZodType>, 'handler' | 'method'> {
  method: 'GET' | 'POST' | 'PUT';
  handler(context: OperationContext<never>): Promise<Response | object>;
}

export function operation<Body extends core.$ZodType>(definition: FeatureDefinition<Body>): Operation {
  return { method: 'POST', ...definition };
}

/** An operation of Protect. One permission covers them all; a key with `readProtect` may call those that only read. */
export function protectOperation<Body extends core.$ZodType>(definition: Definition<Body>): Operation {
  return operation({ feature: 'Protect', permission: 'updateProtectSettings', ...definition });
}
