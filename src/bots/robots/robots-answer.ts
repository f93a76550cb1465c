/**
 * What a robots.txt says to a bot about a path, as RFC 9309 has it (sections 2.2.1 and 2.2.2): the groups of the bot's
 * token, else those of `*`; in them the longest path that matches, and of two of the same length `Allow`.
 */
import { matchesPath, spelledPath } from '../path-match.ts';
import type { PathRule } from './both-allow.ts';
import { ANYBODY, readFile } from './parse-robots.ts';

export interface RobotsAnswer {
  isAllowed: boolean;
  /** The rule that says so, as in the file. `null`: none is about the path. */
  rule: string | null;
}

/** `address`: path and query. `tokens`: names that the bot looks for, the first one that has a group counts. */
export type AskRobots = (tokens: readonly string[], address: string) => RobotsAnswer;

/** Reads the file once. Crawlers may always fetch the file itself. */
export function readRobots(text: string): AskRobots {
  const rulesFor = readRobotsRules(text);
  return (tokens, address) => answerOf(rulesFor(tokens), address);
}

/** Reads the file once. The rules of a bot, in the order in which they count. */
export function readRobotsRules(text: string): (tokens: readonly string[]) => readonly PathRule[] {
  const byToken = new Map<string, PathRule[]>();
  for (const group of new Set(readFile(text).groupOf)) {
    for (const token of group?.tokens ?? []) {
      const rules = byToken.get(token) ?? [];
      byToken.set(token, rules);
      for (const rule of group?.rules ?? []) rules.push(rule);
    }
  }
  for (const rules of byToken.values()) {
    rules.sort((a, b) => b.pattern.length - a.pattern.length || Number(b.allow) - Number(a.allow));
  }
  return (tokens) => {
    const named = tokens.map((token) => token.toLowerCase()).find((token) => byToken.has(token));
    return byToken.get(named ?? ANYBODY) ?? [];
  };
}

export function answerOf(rules: readonly PathRule[], address: string): RobotsAnswer {
  const spelled = spelledPath(address);
  const rule = spelled === '/robots.txt' ? undefined : rules.find(({ pattern }) => matchesPath(pattern, spelled));
  if (rule === undefined) return { isAllowed: true, rule: null };
  return { isAllowed: rule.allow, rule: `${rule.allow ? 'Allow' : 'Disallow'}: ${rule.pattern}` };
}
