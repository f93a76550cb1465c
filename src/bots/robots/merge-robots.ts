/**
 * The origin's robots.txt with what the bot policy says. Every token of the policy gets one group, whose rules allow what
 * both the origin and the policy allow, and is taken out of the origin's groups: groups of one token add up, and there the
 * longer of two paths wins regardless of which group it is in. All other lines stay as they are.
 */
import { ROBOTS_MAX_BYTES } from '../../contract/edge/robots-bounds.ts';
import { bothAllow, isBan } from './both-allow.ts';
import type { PathRule } from './both-allow.ts';
import { ANYBODY, groupsOf, linesOf, together, tokenOf } from './parse-robots.ts';
import type { Group, Line } from './parse-robots.ts';
import { isOpen } from './robots-groups.ts';
import type { RobotsGroup } from './robots-groups.ts';

/** The origin's rules are repeated for crawlers that would otherwise take another one's group for theirs, if they are few. */
const REPEATED_RULES_MAX = 200;
/** Where the file would be too long, a group longer than this refuses everything instead: it promises too little. */
const SHORT_GROUP_MAX_CHARS = 2000;
const BAN = 'Disallow: /';

/** `notes`: lines about the use of content, for every crawler. */
export function mergeRobots(origin: string, groups: readonly RobotsGroup[], notes: readonly string[]): string {
  const lines = linesOf(origin);
  const groupOf = groupsOf(lines);
  const existing = [...new Set(groupOf.filter((group) => group !== null))];
  const printed = new Map<string, { tokens: string[]; body: string }>();
  const taken = new Set<string>();
  const anybody = together(existing.filter((group) => group.tokens.has(ANYBODY)));
  for (const { tokens, rules } of groups) {
    const usual = anybody.rules.length > REPEATED_RULES_MAX && isOpen(rules) ? null : bodyOf(rules, anybody);
    for (const token of tokens) {
      const name = token.toLowerCase();
      const own = existing.filter((group) => group.tokens.has(name));
      const theirs = own.length > 0 ? together(own) : null;
      if (theirs && (isBan(theirs.rules) || isOpen(rules))) continue;
      const body = theirs ? bodyOf(rules, theirs) : usual;
      if (body === null) continue;
      taken.add(name);
      const same = printed.get(body);
      if (same) same.tokens.push(token);
      else printed.set(body, { tokens: [token], body });
    }
  }
  const left = withNotes(withoutTokens(lines, groupOf, taken), notes);
  const written = (isShort: boolean): string => {
    const added = [...printed.values()].map(({ tokens, body }) =>
      [...tokens.map(agentLine), isShort && body.length > SHORT_GROUP_MAX_CHARS ? BAN : body, ''].join('\n'),
    );
    return ended([...left.before, ...added, ...left.lines].join('\n'));
  };
  const whole = written(false);
  return bounded(fits(whole) ? whole : written(true));
}

/** Without these names, and without the groups that have no other. */
function withoutTokens(lines: readonly Line[], groupOf: readonly (Group | null)[], taken: Set<string>): Line[] {
  return lines.filter(({ field, value }, at) => {
    const group = groupOf[at];
    // Rules in front of the first name are nobody's. Behind another group they would be of that one.
    if (!group) return field !== 'allow' && field !== 'disallow';
    if (field === 'user-agent' && taken.has(tokenOf(value))) return false;
    return [...group.tokens].some((token) => !taken.has(token));
  });
}

type Said = ReturnType<typeof together>;

function bodyOf(rules: readonly PathRule[], { rules: theirs, others }: Said): string {
  const both = bothAllow(rules, theirs);
  return [...both.map(ruleLine), ...(isBan(both) ? [] : others.map(({ text }) => text))].join('\n');
}

/**
 * The notes go where the origin speaks to everybody, unless it has such a line itself. The part that Cloudflare writes
 * stays as it is: Cloudflare looks for it.
 */
function withNotes(lines: Line[], notes: readonly string[]): { before: string[]; lines: string[] } {
  const said = new Set(lines.map(({ field }) => field));
  const added = notes.filter((note) => !said.has(note.slice(0, note.indexOf(':')).toLowerCase()));
  const texts = lines.map(({ text }) => text);
  const managedEnd = lines.findLastIndex(({ text }) => /^# END Cloudflare Managed/i.test(text));
  const at = lines.findIndex(
    ({ field, value }, place) => place > managedEnd && field === 'user-agent' && tokenOf(value) === ANYBODY,
  );
  if (added.length === 0) return { before: [], lines: texts };
  // Without a rule, the next group would be the same one.
  if (at < 0) return { before: [agentLine(ANYBODY), ...added, 'Allow: /', ''], lines: texts };
  let end = at + 1;
  while (lines[end]?.field === 'user-agent') end++;
  return { before: [], lines: texts.toSpliced(end, 0, ...added) };
}

function agentLine(token: string): string {
  return `User-agent: ${token}`;
}

function ruleLine({ pattern, allow }: PathRule): string {
  return `${allow ? 'Allow' : 'Disallow'}: ${pattern}`;
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
