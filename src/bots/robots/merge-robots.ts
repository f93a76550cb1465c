/**
 * The origin's robots.txt with what the bot policy says. Every token of the policy gets one group, whose rules allow what
 * both the origin and the policy allow, and is taken out of the origin's groups: groups of one token add up, and there the
 * longer of two paths wins whoever wrote it. All other lines stay as they are.
 */
import { bothAllow } from './both-allow.ts';
import type { PathRule } from './both-allow.ts';
import { spelledPath } from '../path-match.ts';
import { isOpen } from './robots-groups.ts';
import type { RobotsGroup } from './robots-groups.ts';

/** RFC 9309 section 2.5: a crawler reads at least as much. */
export const ROBOTS_MAX_BYTES = 512_000;

interface Line {
  text: string;
  /** In lower case; empty where the line has no field. */
  field: string;
  value: string;
}

interface Group {
  tokens: Set<string>;
  rules: PathRule[];
  /** Fields of the group that are no rules, such as `Crawl-delay`. */
  others: Line[];
}

/** Fields that belong to no group. */
const OF_THE_FILE = new Set(['sitemap', 'host']);
const ANYBODY = '*';

/** `notes`: lines about the use of content, for every crawler. */
export function mergeRobots(origin: string, groups: readonly RobotsGroup[], notes: readonly string[]): string {
  const lines = linesOf(origin);
  const groupOf = groupsOf(lines);
  const existing = [...new Set(groupOf.filter((group) => group !== null))];
  const printed = new Map<string, { tokens: string[]; body: string }>();
  const taken = new Set<string>();
  for (const { tokens, rules } of groups) {
    for (const token of tokens) {
      const name = token.toLowerCase();
      const own = existing.filter((group) => group.tokens.has(name));
      const theirs = own.length > 0 ? own : existing.filter((group) => group.tokens.has(ANYBODY));
      const their = theirs.flatMap((group) => group.rules);
      if (own.length > 0 && (isBan(their) || isOpen(rules))) continue;
      taken.add(name);
      const both = bothAllow(rules, their);
      const others = isBan(both) ? [] : theirs.flatMap((group) => group.others.map(({ text }) => text));
      const body = [...both.map(ruleLine), ...others].join('\n');
      const same = printed.get(body);
      if (same) same.tokens.push(token);
      else printed.set(body, { tokens: [token], body });
    }
  }
  const left = withNotes(withoutTokens(lines, groupOf, taken), notes);
  const added = [...printed.values()].map(({ tokens, body }) => [...tokens.map(agentLine), body, ''].join('\n'));
  return bounded([...left.before, ...added, ...left.lines].join('\n'));
}

export function isText(text: string): boolean {
  return !text.includes('\0') && !/^\s*</.test(text);
}

function linesOf(text: string): Line[] {
  return text
    .replace(/^\ufeff/, '')
    .split(/\r\n?|\n/)
    .map((line) => {
      const [, field = '', value = ''] = /^\s*([^#:]*?)\s*:([^#]*)/.exec(line) ?? [];
      return { text: line, field: field.toLowerCase(), value: value.trim() };
    });
}

/** The group of each line. A group is some names, and the rules that follow (RFC 9309 section 2.2.1). */
function groupsOf(lines: readonly Line[]): (Group | null)[] {
  let group: Group | null = null;
  let isNaming = false;
  return lines.map((line) => {
    const { field, value } = line;
    if (field === 'user-agent') {
      if (!isNaming || group === null) group = { tokens: new Set(), rules: [], others: [] };
      isNaming = true;
      group.tokens.add(tokenOf(value));
    } else if (field === 'allow' || field === 'disallow') {
      isNaming = false;
      if (value !== '') group?.rules.push({ pattern: spelledPath(value), allow: field === 'allow' });
    } else if (field === '' || OF_THE_FILE.has(field)) return null;
    else group?.others.push(line);
    return group;
  });
}

function tokenOf(value: string): string {
  return (value.split('/', 1)[0] ?? '').trim().toLowerCase();
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

/** The notes go where the origin speaks to everybody, unless it has such a line itself. */
function withNotes(lines: Line[], notes: readonly string[]): { before: string[]; lines: string[] } {
  const said = new Set(lines.map(({ field }) => field));
  const added = notes.filter((note) => !said.has(note.slice(0, note.indexOf(':')).toLowerCase()));
  const texts = lines.map(({ text }) => text);
  const at = lines.findIndex(({ field, value }) => field === 'user-agent' && tokenOf(value) === ANYBODY);
  if (added.length === 0) return { before: [], lines: texts };
  // Without a rule, the next group would be the same one.
  if (at < 0) return { before: [agentLine(ANYBODY), ...added, 'Allow: /', ''], lines: texts };
  let end = at + 1;
  while (lines[end]?.field === 'user-agent') end++;
  return { before: [], lines: texts.toSpliced(end, 0, ...added) };
}

function isBan(rules: readonly PathRule[]): boolean {
  return rules.every(({ allow }) => !allow) && rules.some(({ pattern }) => /^(?:\/|\/?\*)$/.test(pattern));
}

function agentLine(token: string): string {
  return `User-agent: ${token}`;
}

function ruleLine({ pattern, allow }: PathRule): string {
  return `${allow ? 'Allow' : 'Disallow'}: ${pattern}`;
}

/** Whole lines only: half a path would be another one. */
function bounded(text: string): string {
  const ended = text.endsWith('\n') ? text : `${text}\n`;
  const bytes = new TextEncoder().encode(ended);
  if (bytes.length <= ROBOTS_MAX_BYTES) return ended;
  const end = bytes.lastIndexOf(10, ROBOTS_MAX_BYTES - 1) + 1;
  return new TextDecoder().decode(bytes.subarray(0, end));
}
