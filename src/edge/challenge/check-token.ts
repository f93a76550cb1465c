/**
 * Asks `/siteverify` about a token, as the edge: audience `edge`, so that the site's own backend can still verify the
 * same token once, and at least the level this instance asks for. A service that implements only the documented
 * interface gets only the documented fields.
 */
import { CLEARANCE_ACTION } from '../../contract/captcha/challenge-constants.ts';
import { verifyToken } from '../../verify/siteverify-client.ts';
import type { CompiledConfig } from '../config/compiled-config.ts';
import type { EdgeEnvironment } from '../environment.ts';
import type { RequestFacts } from '../request/facts.ts';
import { LOCAL_LEVEL, LOCAL_PREFIX } from './local-challenge.ts';
import type { LocalChallenges } from './local-challenge.ts';

/** A person waits for a verification, and it spends the token, so it gets more time than a feed call. */
const VERIFY_TIMEOUT_MS = 3000;

export type TokenCheck =
  | { outcome: 'verified'; jti: string | null; level: number; action: string | null; isLocal: boolean }
  | { outcome: 'refused'; expired: boolean; reason: string }
  | { outcome: 'fault' };

export interface CheckTokenPorts {
  environment: Pick<EdgeEnvironment, 'rules' | 'service' | 'siteverifyUrl'>;
  localChallenges: LocalChallenges;
  count: (name: string) => void;
}

/** `action`: the action the token must have, or `null` for any. */
export async function checkToken(
  { signals, nowMs }: RequestFacts,
  config: CompiledConfig,
  { environment, localChallenges, count }: CheckTokenPorts,
  token: string,
  action: string | null,
): Promise<TokenCheck> {
  const level = config.policy.clearanceLevel;
  if (token.startsWith(LOCAL_PREFIX)) {
    const jti = await localChallenges.spend(config, signals, token, nowMs);
    if (jti === null || level > LOCAL_LEVEL) return refused('local-token');
    return { outcome: 'verified', jti, level: LOCAL_LEVEL, action: CLEARANCE_ACTION, isLocal: true };
  }
  const isOwnService = environment.rules.kind === 'service';
  const { service } = environment;
  const asked = await verifyToken({
    url: environment.siteverifyUrl,
    secret: config.secretKey,
    token,
    ip: signals.ip,
    ...(isOwnService ? { level, audience: 'edge' as const, ...(action === null ? {} : { action }) } : {}),
    timeoutMs: VERIFY_TIMEOUT_MS,
    fetch: (request) => (service ? service.fetch(request) : fetch(request)),
  });
  if (!asked.ok) {
    count(`verify_failures{kind="${asked.error}"}`);
    return { outcome: 'fault' };
  }
  const answer = asked.value;
  count(`verifications{verified="${answer.verified}"}`);
  const reason = answer.reason ?? 'not-verified';
  if (!answer.verified) return { outcome: 'refused', expired: /expired|timeout/i.test(reason), reason };
  // The service was asked to insist on both; they count only where its answer repeats them.
  const reached = answer.level ?? 0;
  if (isOwnService && reached < level) return refused('level');
  if (isOwnService && action !== null && answer.action !== action) return refused('action');
  return {
    outcome: 'verified',
    jti: answer.jti ?? null,
    level: reached,
    action: answer.action ?? null,
    isLocal: false,
  };
}

function refused(reason: string): TokenCheck {
  return { outcome: 'refused', expired: false, reason };
}
