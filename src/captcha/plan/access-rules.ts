/**
 * Access control rules of an account, compiled. Every rule is filed under its rarest condition, so a visitor is compared
 * only with the few rules that share that value, however many rules exist. All conditions must match. The most specific
 * rule wins, and the stricter one on a tie. See docs/access-rules.md.
 */
import type { AccessConditionField, AccessRestriction } from '../../contract/management/access-control-rule.ts';
import { formatCidr, parseCidr, parseIp, prefixOf } from '../../address/ip.ts';
import type { AccessDemand } from './choose-challenge.ts';

export interface AccessRule {
  userScopeHash: string;
  type: 'block' | 'restrict';
  /** Values are canonical (`rules/canonical.ts`); a field occurs once. */
  conditions: readonly { field: AccessConditionField; value: string }[];
  restriction: AccessRestriction;
  /** Epoch milliseconds; from then on the rule matches no visitor. */
  expiry: number;
}

/** The facts that conditions compare. A missing fact matches no condition. */
export interface AccessVisitor {
  ip: string | null;
  /** The account that the site's backend vouches for, and the Protect session that an edge has checked. */
  userIds: readonly string[];
  ja4: string | null;
  userAgent: string;
  country: string | null;
  asn: number | null;
}

export interface CompiledAccessRules {
  byAnchor: ReadonlyMap<string, readonly AccessRule[]>;
  /** Prefix lengths in use, by family: a visitor's address is cut to each of them. */
  prefixLengths: Readonly<Record<4 | 6, readonly number[]>>;
}

export interface MatchedAccessRule {
  userScopeHash: string;
  demand: AccessDemand;
}

/** Rarest first: what a rule is filed under. */
const ANCHORS = ['ip', 'userId', 'ja4Hash', 'userAgent', 'ipMask', 'asn', 'countryCode'] as const;

export function compileAccessRules(rules: readonly AccessRule[]): CompiledAccessRules {
  const byAnchor = new Map<string, AccessRule[]>();
  const lengths = { 4: new Set<number>(), 6: new Set<number>() };
  for (const rule of rules) {
    for (const { field, value } of rule.conditions) {
      const prefix = field === 'ipMask' ? parseCidr(value) : null;
      if (prefix !== null) lengths[prefix.family].add(prefix.prefixLength);
    }
    const anchor = ANCHORS.map((field) => rule.conditions.find((condition) => condition.field === field)).find(Boolean);
    // A rule without conditions would match every visitor. The API refuses it, and so does this function.
    if (anchor === undefined) continue;
    const key = `${anchor.field} ${anchor.value}`;
    const filed = byAnchor.get(key);
    if (filed === undefined) byAnchor.set(key, [rule]);
    else filed.push(rule);
  }
  return { byAnchor, prefixLengths: { 4: [...lengths[4]], 6: [...lengths[6]] } };
}

export function matchAccessRule(
  compiled: CompiledAccessRules,
  visitor: AccessVisitor,
  nowMs: number,
): MatchedAccessRule | null {
  if (compiled.byAnchor.size === 0) return null;
  const keys = visitorKeys(compiled, visitor);
  let best: AccessRule | null = null;
  for (const key of keys) {
    for (const rule of compiled.byAnchor.get(key) ?? []) {
      if (rule.expiry <= nowMs) continue;
      if (!rule.conditions.every(({ field, value }) => keys.has(`${field} ${value}`))) continue;
      if (best === null || outranks(rule, best)) best = rule;
    }
  }
  return best === null ? null : { userScopeHash: best.userScopeHash, demand: demandOf(best) };
}

/** Every `field value` that holds for this visitor. */
function visitorKeys(compiled: CompiledAccessRules, visitor: AccessVisitor): Set<string> {
  const keys = new Set<string>([`userAgent ${visitor.userAgent}`]);
  if (visitor.ip !== null) {
    keys.add(`ip ${visitor.ip}`);
    const address = parseIp(visitor.ip);
    for (const length of address === null ? [] : compiled.prefixLengths[address.family]) {
      keys.add(`ipMask ${formatCidr(prefixOf(address!, length))}`);
    }
  }
  for (const userId of visitor.userIds) keys.add(`userId ${userId}`);
  if (visitor.ja4 !== null) keys.add(`ja4Hash ${visitor.ja4.toLowerCase()}`);
  if (visitor.country !== null) keys.add(`countryCode ${visitor.country}`);
  if (visitor.asn !== null) keys.add(`asn ${visitor.asn}`);
  return keys;
}

function outranks(rule: AccessRule, other: AccessRule): boolean {
  const more = rule.conditions.length - other.conditions.length;
  if (more !== 0) return more > 0;
  const harsher = harshness(rule) - harshness(other);
  // Equal in every way: the choice does not depend on the order of insertion.
  return harsher === 0 ? rule.userScopeHash < other.userScopeHash : harsher > 0;
}

/** From strict to mild: block, image by rounds, puzzle, proof of work, the rest. */
function harshness({ type, restriction }: AccessRule): number {
  if (type === 'block') return 1000;
  const deferred = restriction.deferToVerify === true ? 500 : 0;
  switch (restriction.captchaType) {
    case 'image':
      return deferred + 30 + (restriction.solvedImagesCount ?? 0);
    case 'puzzle':
      return deferred + 20;
    case 'pow':
      return deferred + 10 + (restriction.powDifficulty ?? 0) / 100;
    default:
      return deferred;
  }
}

function demandOf({ type, restriction }: AccessRule): AccessDemand {
  const given = Object.entries(restriction).filter(([, value]) => value !== undefined);
  return { type, ...Object.fromEntries(given) };
}
