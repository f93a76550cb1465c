/** The lines and groups of a robots.txt (RFC 9309 section 2.2). A line that cannot be read has no field. */
import { spelledPath } from '../path-match.ts';
import type { PathRule } from './both-allow.ts';

export interface Line {
  text: string;
  /** In lower case; empty where the line has no field. */
  field: string;
  value: string;
  /** Up to the end of the part that Cloudflare writes at the front. */
  isManaged: boolean;
}

export interface Group {
  tokens: Set<string>;
  rules: PathRule[];
  /** Fields of the group that are no rules, such as `Crawl-delay`. */
  others: Line[];
}

/** The token of every crawler that no other group names. */
export const ANYBODY = '*';

/** Fields that belong to no group. */
const OF_THE_FILE = new Set(['sitemap', 'host']);

/** Names times lines, of all groups. Above it, the work for a file grows with the square of its length. */
const GROUP_LINES_MAX = 500_000;
/** Stands in for a file that takes too long: nothing is promised that it may refuse. */
const CLOSED_FILE = 'User-agent: *\nDisallow: /\n';

export interface ReadFile {
  lines: readonly Line[];
  /** The group of each line. */
  groupOf: readonly (Group | null)[];
}

export function readFile(text: string): ReadFile {
  const lines = linesOf(text);
  const groupOf = groupsOf(lines);
  return groupLines(groupOf) > GROUP_LINES_MAX ? readFile(CLOSED_FILE) : { lines, groupOf };
}

/** What a file says of one token. */
export type TokenRules = Pick<Group, 'rules' | 'others'>;

/** Groups of one token add up. */
export function byToken(groupOf: readonly (Group | null)[]): Map<string, TokenRules> {
  const found = new Map<string, TokenRules>();
  for (const group of new Set(groupOf)) {
    for (const token of group?.tokens ?? []) {
      const known = found.get(token) ?? { rules: [], others: [] };
      found.set(token, known);
      for (const rule of group?.rules ?? []) known.rules.push(rule);
      for (const other of group?.others ?? []) known.others.push(other);
    }
  }
  return found;
}

function groupLines(groupOf: readonly (Group | null)[]): number {
  let sum = 0;
  for (const group of new Set(groupOf)) {
    if (group) sum += group.tokens.size * (group.rules.length + group.others.length);
  }
  return sum;
}

function linesOf(text: string): Line[] {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n?|\n/);
  const managedEnd = lines.findLastIndex((line) => /^# END Cloudflare Managed/i.test(line));
  return lines.map((line, at) => {
    // Trimmed afterwards: an expression that skips spaces itself takes minutes for a long line of them.
    const [, field = '', value = ''] = /^([^#:]*):([^#]*)/.exec(line) ?? [];
    return { text: line, field: field.trim().toLowerCase(), value: value.trim(), isManaged: at <= managedEnd };
  });
}

/** The group of each line. A group is some names, and the rules that follow. */
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

export function tokenOf(value: string): string {
  return (value.split('/', 1)[0] ?? '').trim().toLowerCase();
}
