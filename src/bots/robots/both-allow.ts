/**
 * Two lists of robots.txt rules as one that allows what both allow. In each list the longest pattern that matches counts
 * (RFC 9309 section 2.2.2). So every two patterns that can match one path become a pattern of their own. Among the results
 * length counts again, so a pattern that is too short for its rank gets more stars where it has one already.
 */
export interface PathRule {
  /** As in robots.txt; empty for everything. */
  pattern: string;
  allow: boolean;
}

interface Ranked extends PathRule {
  /** Of the two patterns that it comes from, together. */
  rank: number;
  length: number;
}

/** More than this would take a millisecond, and no site has it. */
const PAIRS_MAX = 4000;
const STEPS_MAX = 4000;

export function bothAllow(ours: readonly PathRule[], theirs: readonly PathRule[]): PathRule[] {
  if (isBan(ours) || isBan(theirs)) return [{ pattern: '/', allow: false }];
  if (theirs.every(({ allow }) => allow)) return [...ours];
  if (ours.every(({ allow }) => allow)) return [...theirs];
  return combined([EVERYTHING, ...ours], [EVERYTHING, ...theirs]) ?? everyBan([...ours, ...theirs]);
}

/** Whether the rules refuse everything. */
export function isBan(rules: readonly PathRule[]): boolean {
  return rules.every(({ allow }) => !allow) && rules.some(({ pattern }) => /^(?:\/|\/?\*)$/.test(pattern));
}

const EVERYTHING: PathRule = { pattern: '', allow: true };

/** What is left where two lists cannot be combined exactly: nothing is promised that one of them refuses. */
function everyBan(rules: readonly PathRule[]): PathRule[] {
  const bans = rules.filter(({ allow }) => !allow);
  return bans.some((rule) => isBan([rule])) ? [{ pattern: '/', allow: false }] : bans;
}

function combined(ours: readonly PathRule[], theirs: readonly PathRule[]): PathRule[] | null {
  if (ours.length * theirs.length > PAIRS_MAX) return null;
  const byPattern = new Map<string, Ranked>();
  for (const our of ours) {
    for (const their of theirs) {
      const patterns = meeting(our.pattern, their.pattern);
      if (patterns === null) return null;
      const rank = our.pattern.length + their.pattern.length;
      const allow = our.allow && their.allow;
      for (const pattern of patterns) {
        const known = byPattern.get(pattern);
        if (known === undefined || known.rank < rank) byPattern.set(pattern, { pattern, allow, rank, length: 0 });
        else if (known.rank === rank) known.allow ||= allow;
      }
    }
  }
  return lengthened([...byPattern.values()]);
}

function lengthened(rules: Ranked[]): PathRule[] | null {
  rules.sort((a, b) => a.rank - b.rank || Number(a.allow) - Number(b.allow));
  const kept: Ranked[] = [];
  for (const rule of rules) {
    const against = kept.filter(({ allow, pattern }) => allow !== rule.allow && meets(pattern, rule.pattern));
    // Nothing is refused here, so there is nothing to allow again.
    if (rule.allow && against.length === 0) continue;
    const behind = against.map(({ length, rank }) => (rank === rule.rank ? length : length + 1));
    rule.length = Math.max(rule.pattern.length, ...behind);
    if (rule.length > rule.pattern.length && /^[^*]*\$$/.test(rule.pattern)) return null;
    kept.push(rule);
  }
  return kept.map(({ pattern, allow, length }) => ({ pattern: withLength(pattern, length), allow }));
}

function withLength(pattern: string, length: number): string {
  const stars = '*'.repeat(length - pattern.length);
  return pattern.includes('*') ? pattern.replace('*', () => `*${stars}`) : pattern + stars;
}

function meets(one: string, other: string): boolean {
  return meeting(one, other)?.size !== 0;
}

/** The patterns that together match what both match. `null`: too many. */
function meeting(one: string, other: string): Set<string> | null {
  const found = new Set<string>();
  const waiting: [done: string, one: string, other: string][] = [['', whole(one), whole(other)]];
  const seen = new Set<string>();
  for (let step = 0; waiting.length > 0; step++) {
    if (step > STEPS_MAX) return null;
    const [done, a, b] = waiting.pop() as (typeof waiting)[number];
    const key = `${done} ${a} ${b}`;
    if (seen.has(key)) continue;
    seen.add(key);
    if (a === '' || b === '') {
      if (/^\**$/.test(a + b)) found.add(asRule(done));
    } else if (a[0] === '*' && b[0] === '*') {
      const next = done.endsWith('*') ? done : `${done}*`;
      waiting.push([next, a.slice(1), b], [next, a, b.slice(1)]);
    } else if (a[0] === '*') {
      waiting.push([done, a.slice(1), b], [done + b[0], a, b.slice(1)]);
    } else if (b[0] === '*') {
      waiting.push([done, a, b.slice(1)], [done + a[0], a.slice(1), b]);
    } else if (a[0] === b[0]) {
      waiting.push([done + a[0], a.slice(1), b.slice(1)]);
    }
  }
  return found;
}

/** A pattern of a whole address, without `$`. */
function whole(pattern: string): string {
  return pattern.endsWith('$') ? pattern.slice(0, -1) : `${pattern}*`.replace(/\*+$/, '*');
}

function asRule(pattern: string): string {
  if (!pattern.endsWith('*')) return `${pattern}$`;
  const prefix = pattern.slice(0, -1);
  if (prefix === '') return '/';
  return prefix.endsWith('$') ? pattern : prefix;
}
