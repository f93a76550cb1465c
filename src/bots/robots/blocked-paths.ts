/**
 * Path rules of an instance that block everybody, as rules of robots.txt. There a pattern is a prefix of path and query, a
 * star also crosses segments, and the longest pattern counts instead of the first. Where that cannot say the same, it says
 * too little: a path that some visitors get is refused to crawlers.
 */
import type { InstancePolicy } from '../../contract/management/instance-policy.ts';
import { spelledPath } from '../path-match.ts';
import { byLength, EVERYTHING, type PathRule, type RankedRule } from './both-allow.ts';

type BlockingRules = InstancePolicy['pathRules'];

/** What every crawler may fetch, by the rules for `GET`. */
export function blockedPaths(pathRules: BlockingRules): PathRule[] {
  const rules = pathRules.filter(({ methods }) => methods?.includes('GET') ?? true);
  const last = rules.findLastIndex(({ action }) => action === 'block');
  if (last < 0) return [EVERYTHING];
  const ranked = rules.slice(0, last + 1).flatMap(({ pattern: written, action }, at): RankedRule[] => {
    const pattern = asGateReads(written);
    const rank = rules.length - at;
    const allow = action !== 'block';
    if (allow) return exactly(pattern).map((one) => ({ pattern: one, allow, rank }));
    // The gate blocks in every letter case. Most sites use lower case.
    const spellings = new Set([pattern, asGateReads(written.toLowerCase())]);
    return [...spellings].flatMap(around).map((one) => ({ pattern: one, allow, rank }));
  });
  return byLength(ranked);
}

/** Without dot segments and double slashes, as the edge compares it. */
function asGateReads(pattern: string): string {
  return spelledPath(new URL(`http://h${pattern}`).pathname).replace(/\/{2,}/g, '/');
}

/** Patterns of robots.txt that match the same paths, with any query. None: there are no such ones. */
function exactly(pattern: string): string[] {
  const literal = pattern.endsWith('**') ? pattern.slice(0, -2) : pattern;
  if (literal.includes('*')) return [];
  if (literal === pattern) return [`${literal}$`, `${literal}?`];
  // `$` at the end would be the end of the address.
  return [literal.endsWith('$') ? `${literal}*` : literal];
}

/** Patterns of robots.txt that match these paths, and perhaps others. */
function around(pattern: string): string[] {
  const same = exactly(pattern);
  if (same.length > 0) return same;
  const stars = pattern.replace(/\*+/g, '*');
  if (!stars.endsWith('*')) return [`${stars}$`, `${stars}?`];
  const prefix = stars.slice(0, -1);
  return [prefix.endsWith('$') ? stars : prefix];
}
