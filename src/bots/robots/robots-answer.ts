/**
 * What a robots.txt says to a bot about a path, as RFC 9309 has it (sections 2.2.1 and 2.2.2): the groups of the bot's
 * token, else those of `*`; in them the longest path that matches, and of two of the same length `Allow`.
 */
import { matchesPath, spelledPath } from '../path-match.ts';
import { type PathRule, ruleLine } from './both-allow.ts';
import { ANYBODY, byToken, readFile } from './parse-robots.ts';

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
  const groups = byToken(readFile(text).groupOf);
  for (const { rules } of groups.values()) {
    rules.sort((a, b) => b.pattern.length - a.pattern.length || Number(b.allow) - Number(a.allow));
  }
  return (tokens) => {
    const named = tokens.map((token) => token.toLowerCase()).find((token) => groups.has(token));
    return groups.get(named ?? ANYBODY)?.rules ?? [];
  };
}

export function answerOf(rules: readonly PathRule[], address: string): RobotsAnswer {
  const spelled = spelledPath(address);
  const rule = spelled === '/robots.txt' ? undefined : rules.find(({ pattern }) => matchesPath(pattern, spelled));
  if (rule === undefined) return { isAllowed: true, rule: null };
  return { isAllowed: rule.allow, rule: ruleLine(rule) };
}
