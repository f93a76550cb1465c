/**
 * The facts about a visitor that a challenge seals, with score and detectors. Addresses and cities are keyed hashes.
 */
import { addressPrefix } from '../../../address/networks.ts';
import type { Keyring } from '../../../captcha/seal/keyring.ts';
import { isWebView } from '../../../risk/headers/claimed-browser.ts';
import { scoreVisitor } from '../../../risk/captcha-score.ts';
import type { SealedFacts } from '../../../captcha/seal/sealed-facts.ts';
import { visitorTag } from '../../../captcha/seal/visitor-tag.ts';
import type { Visitor } from '../visitor.ts';

interface FactsContext {
  day: number;
  hostUnverified: boolean;
  session: string | null;
  /** Added by the access rule that matched. */
  ruleScore: number;
}

export async function visitorFacts(keyring: Keyring, visitor: Visitor, context: FactsContext): Promise<SealedFacts> {
  const { day } = context;
  const tag = (kind: string, value: string | null): Promise<string | null> =>
    value === null ? Promise.resolve(null) : visitorTag(keyring, day, kind, value);
  const webView = isWebView(visitor.userAgent);
  const { score, detectors } = scoreVisitor({
    userAgent: visitor.userAgent,
    headers: visitor.headers,
    hostUnverified: context.hostUnverified,
    webView,
    categories: visitor.categories ?? [],
    sessionRisk: visitor.sessionRisk,
    ruleScore: context.ruleScore,
  });
  const [ip, prefix, city] = await Promise.all([
    tag('ip', visitor.ip),
    tag('prefix', visitor.ip === null ? null : addressPrefix(visitor.ip)),
    tag('city', visitor.city),
  ]);
  return {
    score,
    detectors,
    ip,
    prefix,
    country: visitor.country,
    asn: visitor.asn,
    network: visitor.network,
    city,
    latitude: visitor.latitude,
    longitude: visitor.longitude,
    categories: visitor.categories === null ? null : [...visitor.categories],
    session: context.session,
    webView,
    refusal: null,
  };
}
