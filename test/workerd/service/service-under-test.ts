/**
 * The service's real routes over the test's own bindings, with an account to call them. Requests go through the whole
 * app, so that headers, errors and limits are those of a client.
 */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { Hono } from 'hono';
import { featurePermissions, features, type PermissionMap } from '../../../src/contract/management/permissions.ts';
import { siteSettings } from '../../../src/contract/management/site-settings.ts';
import { serviceApp } from '../../../src/service/app.ts';
import type { ServiceHonoEnv } from '../../../src/service/http/service-call.ts';
import { consoleRoutes } from '../../../src/service/console/console-routes.ts';
import { docsRoutes } from '../../../src/service/docs/docs-routes.ts';
import { edgeRoutes } from '../../../src/service/edge-api/edge-routes.ts';
import { operations } from '../../../src/service/operations/operation-table.ts';
import { referenceRoutes } from '../../../src/service/operations/reference/reference-routes.ts';
import { type AccountRecord, createAccount } from '../../../src/store/d1/accounts.ts';
import { apiKeyToken, createApiKey } from '../../../src/store/d1/api-keys.ts';
import { createSite, type SiteRecord } from '../../../src/store/d1/sites.ts';
import { rootKey } from '../../../src/store/keys/root-key.ts';
import { later, testNow } from '../../support/clock.ts';

export const serviceEnv = env as ServiceEnv;
export const serviceUrl = serviceEnv.SERVICE_URL;

const app = serviceApp({
  operations,
  edgeRoutes,
  captcha: new Hono<ServiceHonoEnv>(),
  reference: referenceRoutes(),
  docs: docsRoutes(),
  console: consoleRoutes(),
});
let accounts = 0;

export interface TestAccount {
  account: AccountRecord;
  site: SiteRecord;
  token: string;
}

/** Every permission. */
export const allPermissions: PermissionMap = featurePermissions;

/** A new account for one test, a millisecond younger than the one before, with a site and a key that has every permission. */
export async function newAccount(
  options: { tier?: AccountRecord['tier']; permissions?: PermissionMap; features?: typeof features } = {},
): Promise<TestAccount> {
  accounts += 1;
  later(1);
  const now = testNow();
  const account = await createAccount(
    serviceEnv,
    {
      ownerEmail: `owner${accounts}@example.com`,
      tier: options.tier ?? 'enterprise',
      features: options.features ?? features,
    },
    now,
  );
  const settings = siteSettings.parse({ domains: ['example.com'] });
  const made = await createSite(serviceEnv, { accountId: account.id, name: `site-${accounts}`, settings }, now);
  if (!made.ok) throw new Error(made.error);
  const site = made.value;
  const key = await createApiKey(
    serviceEnv,
    {
      accountId: account.id,
      name: 'test',
      permissions: options.permissions ?? allPermissions,
      expiresInSeconds: 3600,
    },
    now,
  );
  return { account, site, token: await apiKeyToken(await rootKey(serviceEnv), { accountId: account.id, id: key.id }) };
}

/** Sends one request, a millisecond after the one before, through the whole app and waits for its background work. */
export async function send(path: string, init: RequestInit = {}, bindings = serviceEnv): Promise<Response> {
  later(1);
  const context = createExecutionContext();
  const response = await app.fetch(new Request(`${serviceUrl}${path}`, init), bindings, context);
  await waitOnExecutionContext(context);
  return response;
}

/** Sends one request and does not wait for what follows the response. */
export async function sendOnly(path: string, init: RequestInit = {}, bindings = serviceEnv): Promise<Response> {
  return app.fetch(new Request(`${serviceUrl}${path}`, init), bindings, createExecutionContext());
}

/** A JSON call with a bearer token. Use `GET` without a body. */
export async function call(
  token: string | null,
  path: string,
  body?: unknown,
  method = 'POST',
  sent = send,
): Promise<{ status: number; body: any; response: Response }> {
  const headers = new Headers();
  if (token !== null) headers.set('authorization', `Bearer ${token}`);
  const init: RequestInit = { method, headers };
  if (body !== undefined) {
    headers.set('content-type', 'application/json');
    init.body = typeof body === 'string' ? body : JSON.stringify(body);
  }
  const response = await sent(path, init);
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text), response };
}
