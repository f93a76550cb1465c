/** The visitor as the edge sees them, for calls to the service on their behalf. */
import { visitorBinding } from '../../address/visitor-binding.ts';
import type { EdgeVisitor } from '../../contract/edge/edge-api.ts';
import type { RequestFacts } from '../request/facts.ts';
import { clientHeadersOf } from '../request/header-facts.ts';

const USER_AGENT_MAX_CHARS = 16_384;

export function edgeVisitorOf({ signals, target, requestId }: RequestFacts, riskScore: number | null): EdgeVisitor {
  return {
    ip: signals.ip,
    userAgent: signals.userAgent.slice(0, USER_AGENT_MAX_CHARS),
    asn: signals.asn,
    country: signals.countryCode,
    ja4: signals.ja4,
    ipCategories: [...signals.ipCategories],
    requestId,
    host: target.host,
    ...(riskScore === null ? {} : { riskScore }),
  };
}

/** Whose a ticket or a challenge of the edge's own is: this network and browser, on this host. */
export async function ownerOf({ signals, target }: RequestFacts): Promise<string> {
  return `${await visitorBinding(signals.ip, signals.userAgent)} ${target.host}`;
}

/** With what the headers show of the browser. Too expensive for a request that is only decided. */
export function sessionVisitorOf(facts: RequestFacts, riskScore: number | null): EdgeVisitor {
  return { ...edgeVisitorOf(facts, riskScore), headers: clientHeadersOf(facts.headers) };
}
