/** What the instance's policies see of a request. The texts that a visitor wrote are parsed only if a policy asks. */
import type { BotSignal } from '../../bots/bot-signal.ts';
import type { PolicyRequest } from '../../policies/request.ts';
import type { PathPolicy } from '../config/path-policy.ts';
import type { RiskReading } from '../../risk/headers/request-risk.ts';
import { hostName } from '../../address/host-name.ts';
import type { RequestFacts } from '../request/facts.ts';
import type { SessionReading } from '../session/check-session.ts';

interface Known {
  path: PathPolicy;
  bot: BotSignal | null;
  session: SessionReading;
  risk: RiskReading | null;
}

export function policyRequest({ request, headers, target, signals }: RequestFacts, known: Known): PolicyRequest {
  return {
    host: hostName(target.host),
    method: headers.method,
    paths: target.readings && [target.path, ...target.readings],
    query: target.query,
    headers: request.headers,
    cookie: headers.cookie,
    ip: signals.ip,
    asn: signals.asn,
    country: signals.countryCode,
    ja4: signals.ja4,
    userAgent: signals.userAgent,
    deviceType: signals.deviceType,
    bot: known.bot,
    ipCategories: signals.ipCategories,
    sessionStatus: known.session.status,
    riskScore: known.risk?.score ?? null,
    pathType: known.path.pathType,
  };
}
