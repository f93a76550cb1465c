/**
 * What docs/instance-settings.md and docs/site-settings.md say of each setting, for the OpenAPI document. A setting is
 * described in one place: the row of its page. `[]` in a name stands for any element of a list, `*` for any one member.
 */
import { readFileSync } from 'node:fs';

export interface DocumentedSetting {
  /** Plain text: the last cell of the row, without its links. */
  meaning: string;
  /** JSON text, or `null` where the page has none. */
  defaultText: string | null;
  exampleText: string | null;
}
export type SettingsPage = ReadonlyMap<string, DocumentedSetting>;

type Json = Record<string, unknown>;

export const instancePage = readPage('docs/instance-settings.md', 'Member');
export const sitePage = readPage('docs/site-settings.md', 'Field');

export function readPage(path: string, nameHeading: string): SettingsPage {
  const text = readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
  const found = new Map<string, DocumentedSetting>();
  let headings: string[] = [];
  for (const line of text.split('\n')) {
    const cells = line.startsWith('| ')
      ? line.split(' | ').map((cell) => cell.replaceAll(/^\| |\s*\|$/g, '').trim())
      : [];
    if (cells[0] === nameHeading) headings = cells;
    const name = /^`([\w.*[\]-]+)`$/.exec(cells[0] ?? '')?.[1];
    if (name === undefined) continue;
    const cell = (heading: string): string => cells[headings.indexOf(heading)] ?? '';
    found.set(name, {
      meaning: plain(cells.at(-1) ?? ''),
      defaultText: jsonOf(cell('Default')),
      exampleText: jsonOf(cell('Example')),
    });
  }
  return found;
}

function jsonOf(cell: string): string | null {
  return /^`(.+)`$/.exec(cell)?.[1] ?? null;
}

/** A description has no links: what a link says stays, and one to a section further down goes. */
function plain(markdown: string): string {
  return markdown
    .replaceAll(/ ?\[Below\]\([^)]*\)/g, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim();
}

/** Every name that the schema of an object has, in the page's way of writing it. */
export function settingNames(schema: Json, prefix = ''): string[] {
  return childrenOf(schema).flatMap(([name, child]) => {
    const own = name === '[]' ? `${prefix}[]` : prefix === '' ? name : `${prefix}.${name}`;
    return [...(name === '[]' ? [] : [own]), ...settingNames(child, own)];
  });
}

/** Adds description and example to every setting of an object's schema that the page names. */
export function describeSettings(schema: Json, page: SettingsPage, prefix = ''): void {
  for (const [name, child] of childrenOf(schema)) {
    const own = name === '[]' ? `${prefix}[]` : prefix === '' ? name : `${prefix}.${name}`;
    const setting = documented(page, own);
    if (setting !== undefined && name !== '[]') {
      child['description'] = setting.meaning;
      if (setting.exampleText !== null) child['examples'] = [JSON.parse(setting.exampleText) as unknown];
    }
    describeSettings(child, page, own);
  }
}

/**
 * The row of this name, or the one that has a `*` for one of its parts, or the row of the setting that it repeats:
 * `trafficFilter.tor.puzzle.decoyCount` is `puzzle.decoyCount`, for addresses of one kind.
 */
export function documented(page: SettingsPage, name: string): DocumentedSetting | undefined {
  const parts = name.split('.');
  const alike = [
    name,
    ...parts.map((_, index) => parts.with(index, '*').join('.')),
    ...parts.map((_, index) => parts.toSpliced(index, 2).join('.')),
    ...parts.map((_, index) => parts.slice(index).join('.')),
  ];
  return alike.map((one) => page.get(one)).find((row) => row !== undefined);
}

function childrenOf(schema: Json): [string, Json][] {
  const children = Object.entries((schema['properties'] ?? {}) as Record<string, Json>);
  if (schema['items'] !== undefined) children.push(['[]', schema['items'] as Json]);
  const any = schema['additionalProperties'];
  if (typeof any === 'object' && any !== null) children.push(['*', any as Json]);
  for (const option of (schema['anyOf'] ?? []) as Json[]) children.push(...childrenOf(option));
  return children;
}
