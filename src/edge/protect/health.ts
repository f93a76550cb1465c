/**
 * `GET /__protect/health`: whether the gate has rules to judge by, for anyone; with `OPS_TOKEN` as
 * bearer also how old everything is (issue 4, point 9). Never a secret.
 */
import { json } from '../answer/respond.ts';
import { isSameSecret } from '../../bytes/constant-time.ts';
import type { ProtectCall } from './routes.ts';

/** Renewed in time means before this. */
const JWT_EXPIRY_WARNING_SECONDS = 14 * 86_400;

export function health({ passage, edge }: ProtectCall): Response {
  const { feed, environment, service } = edge;
  const { config, ruleset } = feed.state;
  const nowMs = passage.nowMs;
  const status = config && ruleset && !service.jwtRefused ? 'ok' : 'degraded';
  if (!isOperator(passage.request, environment.opsToken)) return json(passage, 200, { status });

  const claims = environment.rules.kind === 'service' ? environment.rules.claims : null;
  const nowSeconds = Math.floor(nowMs / 1000);
  const warnings: string[] = [];
  if (!config || !ruleset) warnings.push('No ruleset is loaded: FAIL_MODE decides.');
  if (service.jwtRefused) warnings.push('THE SERVICE REFUSES THE CLIENT JWT: issue a new one and set CLIENT_JWT.');
  if (claims && claims.expiresAt - nowSeconds < JWT_EXPIRY_WARNING_SECONDS) {
    warnings.push(`The client JWT expires in ${Math.max(0, claims.expiresAt - nowSeconds)} seconds.`);
  }
  return json(passage, 200, {
    status,
    warnings,
    version: environment.version,
    instanceId: edge.instanceId,
    isolate: edge.log.isolateId,
    configVersion: config?.configVersion ?? null,
    ruleset: ruleset ? { version: ruleset.version, base: ruleset.baseHash, rules: ruleset.ruleCount } : null,
    lastSyncMs: feed.syncedAtMs,
    lastSyncAgeSeconds: feed.syncedAtMs === null ? null : Math.round((nowMs - feed.syncedAtMs) / 1000),
    lastAttemptMs: feed.attemptedAtMs || null,
    clientJwt: claims && {
      ageSeconds: nowSeconds - claims.issuedAt,
      expiresInSeconds: claims.expiresAt - nowSeconds,
      refused: service.jwtRefused,
    },
    failModes: {
      rules: environment.failMode,
      verify: environment.failModeVerify,
      challenge: environment.failModeChallenge,
    },
    sinks: environment.sinks,
  });
}

function isOperator({ headers }: Request, opsToken: string | null): boolean {
  const given = /^Bearer (.+)$/.exec(headers.get('authorization') ?? '')?.[1];
  return opsToken !== null && given !== undefined && isSameSecret(given, opsToken);
}
