/**
 * Whether what was deployed works: the service answers, and a request through the edge is in the service's log under the
 * reference that the visitor got. Only this shows that route, credential, service binding and storage fit together.
 */
import * as z from 'zod/mini';
import { parseJson } from '../../bytes/json.ts';
import type { PermissionMap } from '../../contract/management/permissions.ts';
import type { StoreEnv } from '../../store/binding.ts';
import { apiKeysOfAccount, deleteApiKey } from '../../store/d1/api-keys.ts';
import { OperatorError } from '../failure.ts';
import { CallError, callService, type ServiceTarget } from '../management-call.ts';
import { provisionApiKey } from '../provision.ts';
import type { World } from './world.ts';

/** A new domain gets its certificate in the meantime. */
const SERVICE_READY_WITHIN_MS = 600_000;
/** A new route takes seconds, a verdict a second more. */
const SEEN_WITHIN_MS = 180_000;
const ASK_EVERY_MS = 3_000;
const ANSWERS_WITHIN_MS = 20_000;
const KEY_SECONDS = 900;
/** Of deployments and upgrades, of which the lease lets one run at a time. */
const KEY_NAME = 'npm run deploy';

const health = z.object({ status: z.string() });
const found = z.object({ total: z.number() });

/** @throws OperatorError when the service does not answer in time. */
export async function serviceReady(serviceUrl: string, world: World): Promise<void> {
  const isReady = await untilTrue(SERVICE_READY_WITHIN_MS, world, async () => {
    const response = await visit(`${serviceUrl}/health`);
    return response?.status === 200 && health.safeParse(parseJson(response.body)).success;
  });
  if (!isReady)
    throw new OperatorError(
      `${serviceUrl}/health does not answer. If the domain is new, its certificate may take some minutes: run the command again.`,
    );
}

/**
 * `isCounted`: the site's log only counts allowed requests, so the gate's own answer is the proof.
 * @returns the reference of the request. @throws OperatorError when it never passes the edge, or is not in the log.
 */
export async function proven(host: string, target: ServiceTarget, world: World, isCounted: boolean): Promise<string> {
  let reference = '';
  const isGated = await untilTrue(SEEN_WITHIN_MS, world, async () => {
    reference = (await visit(`https://${host}/`))?.reference ?? '';
    return reference !== '';
  });
  if (!isGated)
    throw new OperatorError(
      `A request for https://${host}/ does not pass the gate. Check that the DNS record of ${host} is proxied and that no longer route exempts it, and run the command again.`,
    );
  if (isCounted) return reference;
  const isLogged = await untilTrue(SEEN_WITHIN_MS, world, async () => {
    const answer = await callService(target, '/protect/verdicts', { requestId: reference }).catch((error: unknown) => {
      if (error instanceof CallError && !error.isRefusal) return null;
      throw error;
    });
    const parsed = found.safeParse(answer);
    return parsed.success && parsed.data.total > 0;
  });
  if (!isLogged)
    throw new OperatorError(
      `The gate of ${host} works, but its verdict ${reference} does not reach the log of ${target.serviceUrl}. Read the Worker's log in the dashboard, and run the command again.`,
    );
  return reference;
}

/** Runs `use` with an API key that ends with it, and after 15 minutes whatever happens. */
export async function withApiKey<T>(
  env: StoreEnv,
  on: { accountId: string; serviceUrl: string; siteKey: string; permissions: PermissionMap },
  use: (target: ServiceTarget) => Promise<T>,
  keyName = KEY_NAME,
): Promise<T> {
  const { accountId, serviceUrl, siteKey, permissions } = on;
  // Of a run that was killed.
  const left = (await apiKeysOfAccount(env, accountId)).filter(({ name }) => name === keyName);
  for (const { id } of left) await deleteApiKey(env, accountId, id);
  const key = await provisionApiKey(
    env,
    { accountId, name: keyName, permissions, expiresInSeconds: KEY_SECONDS },
    Date.now(),
  );
  try {
    return await use({ serviceUrl, apiKey: key.token, siteKey });
  } catch (error) {
    throw error instanceof CallError ? new OperatorError(error.message) : error;
  } finally {
    await deleteApiKey(env, accountId, key.apiKeyId).catch(() => {});
  }
}

async function untilTrue(withinMs: number, world: World, ask: () => Promise<boolean>): Promise<boolean> {
  for (let waited = 0; waited <= withinMs; waited += ASK_EVERY_MS) {
    if (await ask()) return true;
    await world.pause(ASK_EVERY_MS);
  }
  return false;
}

/** `null` while nobody answers. */
async function visit(url: string): Promise<{ status: number; body: string; reference: string | null } | null> {
  try {
    const response = await fetch(url, {
      headers: { 'user-agent': 'gatehouse-deploy/1.0', accept: 'text/html,application/json' },
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
    });
    const body = (response.headers.get('content-type') ?? '').includes('json') ? await response.text() : '';
    if (body === '') await response.body?.cancel();
    return { status: response.status, body, reference: response.headers.get('x-protect-request-id') };
  } catch {
    return null;
  }
}
