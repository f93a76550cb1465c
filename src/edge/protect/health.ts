/**
 * `GET /__protect/health`: whether the gate has rules to judge by and an origin that responds, for anyone; with `OPS_TOKEN` as bearer also how old
 * everything is. Never a secret.
 */
import { isSameSecret } from '../../bytes/same-secret.ts';
import { jsonAnswer } from '../answer/answer.ts';
import type { RequestContext } from '../decide/context.ts';
import { SENT_WITHIN_MS } from '../../logsink/verdict-batcher.ts';
import type { Isolate } from '../isolate/isolate.ts';
import { policyRemedies } from '../origin/page-policy.ts';
import type { OriginState } from '../origin/origins.ts';
import { type Answered, answerWith } from '../step/step.ts';

/** One failed request can be the visitor's connection. Three in a row are the origin. */
const ORIGIN_FAILURES_TO_DEGRADE = 3;
/** Leaves time to issue a new one. */
const JWT_EXPIRY_WARNING_SECONDS = 14 * 86_400;

export function healthEndpoint(context: RequestContext, isolate: Isolate): Answered {
  const { feed, service, environment } = isolate;
  const { config, ruleset } = feed.state;
  const fails = isolate.origins.states(config).some(isFailing);
  const works = config && ruleset && !service.jwtRefused && !fails;
  const status = works ? 'ok' : 'degraded';
  const isDetailed = isOperator(context.facts.request, environment.opsToken);
  const body = isDetailed ? { status, ...details(isolate, context.facts.nowMs) } : { status };
  return answerWith(context, jsonAnswer(body));
}

function isFailing({ target, failures }: OriginState): boolean {
  return !target.ok || failures >= ORIGIN_FAILURES_TO_DEGRADE;
}

function details(isolate: Isolate, nowMs: number): object {
  const { feed, environment, service, instanceId, log, origins, unreadAddresses } = isolate;
  const { config, ruleset } = feed.state;
  const claims = environment.rules.kind === 'service' ? environment.rules.claims : null;
  const nowSeconds = Math.floor(nowMs / 1000);
  const warnings: string[] = [];
  if (!config || !ruleset) warnings.push('No ruleset is loaded: FAIL_MODE decides.');
  if (!service.reachable) warnings.push('The service does not answer as it should: the last rules stay in force.');
  // Also while the service answers, but not with rules that this edge accepts.
  if (ruleset && nowMs - (feed.syncedAtMs ?? 0) > environment.maxStaleMs) {
    warnings.push('The rules are older than RULES_MAX_STALE_SECONDS: the newest ones cannot be loaded.');
  }
  if (service.jwtRefused) warnings.push('THE SERVICE REFUSES THE CLIENT JWT: issue a new one and set CLIENT_JWT.');
  if (unreadAddresses > 0) {
    warnings.push(`${unreadAddresses} requests were refused: x-client-ip of the proxy is not one address.`);
  }
  if (claims && claims.expiresAt - nowSeconds < JWT_EXPIRY_WARNING_SECONDS) {
    warnings.push(`The client JWT expires in ${Math.max(0, claims.expiresAt - nowSeconds)} seconds.`);
  }
  if (config && config.policies.skipped > 0) {
    warnings.push(
      `Policies of a newer release that have no effect here: ${config.policies.skipped}. Update this edge.`,
    );
  }
  for (const [directive, path] of isolate.obstacles) {
    warnings.push(
      `Pages such as ${path} open no session: add ${policyRemedies[directive]} to ${directive} of their Content-Security-Policy.`,
    );
  }
  const states = origins.states(config);
  for (const { name, target, failures } of states) {
    if (!target.ok) warnings.push(`The origin ${name} cannot be called: ${target.error.why}.`);
    else if (failures > 0) {
      const [which, remedy] = name === '' ? ['', 'ORIGIN_URL'] : [` ${name}`, 'its address'];
      warnings.push(`The last ${failures} requests reached no origin${which}, or this gate again: check ${remedy}.`);
    }
  }
  return {
    warnings,
    version: environment.version,
    instanceId,
    isolate: log.isolateId,
    configVersion: config?.configVersion ?? null,
    ruleset: ruleset ? { version: ruleset.version, base: ruleset.baseHash, rules: ruleset.ruleCount } : null,
    policies: config && { inForce: config.policies.size, notUnderstood: config.policies.skipped },
    origins: states.slice(1).map((state) => ({
      name: state.name,
      failing: isFailing(state),
      failuresInARow: state.failures,
    })),
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
    // What a kill of this isolate can lose. It grows while the service does not respond.
    verdicts: { held: log.held, sentWithinMs: SENT_WITHIN_MS },
  };
}

function isOperator({ headers }: Request, opsToken: string | null): boolean {
  const given = /^Bearer (.+)$/.exec(headers.get('authorization') ?? '')?.[1];
  return opsToken !== null && given !== undefined && isSameSecret(given, opsToken);
}
