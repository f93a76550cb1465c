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

export interface RankedRule extends PathRule {
  /** The higher of two that match one path counts, whichever pattern is longer; of equal ones `Allow`. */
  rank: number;
}
interface Ranked extends RankedRule {
  length: number;
}

/** More than this would take too long, and no site has it. */
const PAIRS_MAX = 4000;
const STEPS_MAX = 4000;
/** A step with longer texts counts as several. */
const CHARS_PER_STEP = 512;

/** What all combinations of a file may take together, in steps of some hundred nanoseconds. */
export interface Effort {
  steps: number;
}
export function newEffort(): Effort {
  return { steps: 100_000 };
}

export const EVERYTHING: PathRule = { pattern: '/', allow: true };

export function bothAllow(
  ours: readonly PathRule[],
  theirs: readonly PathRule[],
  effort: Effort = newEffort(),
): PathRule[] {
  if (isBan(ours) || isBan(theirs)) return [{ pattern: '/', allow: false }];
  if (isOpen(theirs)) return [...ours];
  if (isOpen(ours)) return [...theirs];
  return combined([ANYTHING, ...ours], [ANYTHING, ...theirs], effort) ?? everyBan([...ours, ...theirs]);
}

/** Whether the rules refuse everything. */
export function isBan(rules: readonly PathRule[]): boolean {
  return rules.every(({ allow }) => !allow) && rules.some(({ pattern }) => /^(?:\/|\/?\*)$/.test(pattern));
}

/** Rules of which the higher rank counts, as rules of which the longer pattern does. */
export function byLength(rules: readonly RankedRule[]): PathRule[] {
  return lengthened(distinct(rules), newEffort()) ?? everyBan(rules);
}

/** Whether the rules refuse nothing. */
export function isOpen(rules: readonly PathRule[]): boolean {
  return rules.every(({ allow }) => allow);
}

export function ruleLine({ pattern, allow }: PathRule): string {
  return `${allow ? 'Allow' : 'Disallow'}: ${pattern}`;
}

const ANYTHING: PathRule = { pattern: '', allow: true };

/** What is left where two lists cannot be combined exactly: nothing is promised that one of them refuses. */
function everyBan(rules: readonly PathRule[]): PathRule[] {
  const bans = rules.filter(({ allow }) => !allow);
  return bans.some((rule) => isBan([rule])) ? [{ pattern: '/', allow: false }] : bans;
}

function combined(ours: readonly PathRule[], theirs: readonly PathRule[], effort: Effort): PathRule[] | null {
  if (ours.length * theirs.length > PAIRS_MAX) return null;
  const ranked: RankedRule[] = [];
  for (const our of ours) {
    for (const their of theirs) {
      const patterns = meeting(our.pattern, their.pattern, effort);
      if (patterns === null) return null;
      const rank = our.pattern.length + their.pattern.length;
      const allow = our.allow && their.allow;
      for (const pattern of patterns) ranked.push({ pattern, allow, rank });
    }
  }
  return lengthened(distinct(ranked), effort);
}

/** Of equal patterns the one that counts. */
function distinct(rules: readonly RankedRule[]): Ranked[] {
  const byPattern = new Map<string, Ranked>();
  for (const { pattern, allow, rank } of rules) {
    const known = byPattern.get(pattern);
    if (known === undefined || known.rank < rank) byPattern.set(pattern, { pattern, allow, rank, length: 0 });
    else if (known.rank === rank) known.allow ||= allow;
  }
  return [...byPattern.values()];
}

function lengthened(rules: Ranked[], effort: Effort): PathRule[] | null {
  rules.sort((a, b) => a.rank - b.rank || Number(a.allow) - Number(b.allow));
  const kept: Ranked[] = [];
  for (const rule of rules) {
    const against = kept.filter(({ allow, pattern }) => allow !== rule.allow && meets(pattern, rule.pattern, effort));
    if (effort.steps < 0) return null;
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

function meets(one: string, other: string, effort: Effort): boolean {
  return meeting(one, other, effort)?.size !== 0;
}

/** The patterns that together match what both match. `null`: too many. */
function meeting(one: string, other: string, effort: Effort): Set<string> | null {
  const found = new Set<string>();
  const waiting: [done: string, one: string, other: string][] = [['', whole(one), whole(other)]];
  const seen = new Set<string>();
  for (let step = 0; waiting.length > 0; step++) {
    const [done, a, b] = waiting.pop() as (typeof waiting)[number];
    effort.steps -= Math.ceil((done.length + a.length + b.length + 1) / CHARS_PER_STEP);
    if (step > STEPS_MAX || effort.steps < 0) return null;
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
