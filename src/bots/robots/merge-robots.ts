/**
 * The origin's robots.txt with what the bot policy says. Every token of the policy gets one group, whose rules allow what
 * both the origin and the policy allow, and is taken out of the origin's groups: groups of one token add up, and there the
 * longer of two paths wins regardless of which group it is in. All other lines stay as they are.
 */
import { ROBOTS_MAX_BYTES } from '../../contract/edge/edge-responses.ts';
import { bothAllow, type Effort, EVERYTHING, isBan, isOpen, newEffort, type PathRule, ruleLine } from './both-allow.ts';
import { ANYBODY, byToken, type Group, type Line, readFile, tokenOf, type TokenRules } from './parse-robots.ts';
import type { RobotsGroup } from './robots-groups.ts';

/** The origin's rules are repeated for crawlers that would otherwise take another one's group for theirs, if they are few. */
const REPEATED_RULES_MAX = 200;
/** Where the file would be too long, a group longer than this refuses everything instead: it promises too little. */
const SHORT_GROUP_MAX_CHARS = 2000;
const BAN = 'Disallow: /';

export interface RobotsPolicy {
  groups: readonly RobotsGroup[];
  /** Rules that hold for every crawler, also for those that only the origin names. */
  everybody?: readonly PathRule[];
  /** Lines about the use of content, for every crawler. */
  notes: readonly string[];
}

export function mergeRobots(origin: string, { groups, everybody = [EVERYTHING], notes }: RobotsPolicy): string {
  const { lines, groupOf } = readFile(origin);
  const existing = byToken(groupOf);
  const effort = newEffort();
  const printed = new Map<string, { tokens: string[]; body: string }>();
  const taken = new Set<string>();
  const print = (token: string, body: string): void => {
    taken.add(token.toLowerCase());
    const same = printed.get(body);
    if (same) same.tokens.push(token);
    else printed.set(body, { tokens: [token], body });
  };
  const anybody = existing.get(ANYBODY) ?? { rules: [], others: [] };
  for (const { tokens, rules } of groups) {
    const isUsual = rules === everybody || isOpen(rules);
    const usual = isUsual && anybody.rules.length > REPEATED_RULES_MAX ? null : bodyOf(rules, anybody, effort);
    for (const token of tokens) {
      const theirs = existing.get(token.toLowerCase());
      if (theirs && (isBan(theirs.rules) || isOpen(rules))) continue;
      const body = theirs ? bodyOf(rules, theirs, effort) : usual;
      if (body !== null) print(token, body);
    }
  }
  const said = notesLeft(lines, notes);
  let forAnybody: string[] = [];
  if (!isOpen(everybody)) {
    for (const [token, theirs] of existing) {
      if (taken.has(token) || token === ANYBODY || isBan(theirs.rules)) continue;
      print(token, bodyOf(everybody, theirs, effort));
    }
    if (!isBan(anybody.rules)) {
      taken.add(ANYBODY);
      forAnybody = [
        agentLine(ANYBODY),
        ...said,
        ...anybodysLines(bothAllow(everybody, anybody.rules, effort), anybody),
        '',
      ];
    }
  }
  const left = withoutTokens(lines, groupOf, taken);
  const noted = taken.has(ANYBODY) ? { before: [], lines: left.map(({ text }) => text) } : withNotes(left, said);
  const written = (isShort: boolean): string => {
    const added = [...printed.values()].map(({ tokens, body }) =>
      [...tokens.map(agentLine), isShort && body.length > SHORT_GROUP_MAX_CHARS ? BAN : body, ''].join('\n'),
    );
    return ended([...noted.before, ...added, ...forAnybody, ...noted.lines].join('\n'));
  };
  const whole = written(false);
  return bounded(fits(whole) ? whole : written(true));
}

/** Cloudflare's own group stays where it is, and allows everything. So a ban must be longer than `/`. */
function anybodysLines(rules: readonly PathRule[], { others }: TokenRules): string[] {
  const lines = rules.map((rule) => ruleLine(rule.allow || rule.pattern !== '/' ? rule : { ...rule, pattern: '/*' }));
  return isBan(rules) ? lines : [...lines, ...others.filter(({ isManaged }) => !isManaged).map(({ text }) => text)];
}

/** Without these names, and without the groups that have no other. */
function withoutTokens(lines: readonly Line[], groupOf: readonly (Group | null)[], taken: Set<string>): Line[] {
  const kept = new Set(
    [...new Set(groupOf)].filter((group) => [...(group?.tokens ?? [])].some((one) => !taken.has(one))),
  );
  return lines.filter(({ field, value, isManaged }, at) => {
    const group = groupOf[at] ?? null;
    // Rules in front of the first name are nobody's. Behind another group they would be of that one.
    if (!group) return field !== 'allow' && field !== 'disallow';
    if (isManaged && group.tokens.has(ANYBODY)) return true;
    if (field === 'user-agent' && taken.has(tokenOf(value))) return false;
    return kept.has(group);
  });
}

function bodyOf(rules: readonly PathRule[], { rules: theirs, others }: TokenRules, effort: Effort): string {
  const both = bothAllow(rules, theirs, effort);
  return [...both.map(ruleLine), ...(isBan(both) ? [] : others.map(({ text }) => text))].join('\n');
}

/** Notes that the origin does not have itself. */
function notesLeft(lines: readonly Line[], notes: readonly string[]): string[] {
  const said = new Set(lines.map(({ field }) => field));
  return notes.filter((note) => !said.has(note.slice(0, note.indexOf(':')).toLowerCase()));
}

/**
 * The notes go where the origin speaks to everybody. The part that Cloudflare writes stays as it is: Cloudflare looks for
 * it.
 */
function withNotes(lines: readonly Line[], notes: readonly string[]): { before: string[]; lines: string[] } {
  const texts = lines.map(({ text }) => text);
  if (notes.length === 0) return { before: [], lines: texts };
  const at = lines.findIndex(
    ({ field, value, isManaged }) => !isManaged && field === 'user-agent' && tokenOf(value) === ANYBODY,
  );
  // Without a rule, the next group would be the same one.
  if (at < 0) return { before: [agentLine(ANYBODY), ...notes, 'Allow: /', ''], lines: texts };
  let end = at + 1;
  while (lines[end]?.field === 'user-agent') end++;
  return { before: [], lines: texts.toSpliced(end, 0, ...notes) };
}

function agentLine(token: string): string {
  return `User-agent: ${token}`;
}

function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

function fits(text: string): boolean {
  return new TextEncoder().encode(text).length <= ROBOTS_MAX_BYTES;
}

/** Whole lines only: half a path would be another one. */
function bounded(text: string): string {
  if (fits(text)) return text;
  const bytes = new TextEncoder().encode(text);
  const end = bytes.lastIndexOf(10, ROBOTS_MAX_BYTES - 1) + 1;
  return new TextDecoder().decode(bytes.subarray(0, end));
}
