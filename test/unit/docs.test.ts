/**
 * Checks what pages and comments refer to: linked files and sections, quoted test titles
 * (`` `e2e/edge-gate` › "words of the title" ``) and counters. A renamed test must not leave a claim without its proof.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { metrics } from '../../src/service/operations/protect/verdicts/metrics-table.ts';
import { edgeFloors, mayImport } from '../../scripts/checks/import-graph.ts';

const folders = ['.', 'docs', 'docs/how-to', 'docs/decisions'];
const pages = folders.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => ({ path: join(folder, name), text: readFileSync(join(folder, name), 'utf8') })),
);

const operatorsPage = pages.find(({ path }) => path.endsWith('operations.md'))?.text ?? '';
const watched = operatorsPage.slice(
  operatorsPage.indexOf('### What to watch'),
  operatorsPage.indexOf('## Personal data'),
);

test('the page for operators names every metric that should wake somebody, and no other', () => {
  const named = new Set([...watched.matchAll(/gatehouse_([a-z_]+)/g)].map(([, name]) => name));
  const waking = metrics.filter(({ wakes }) => wakes).map(({ name }) => name);
  expect([...named].toSorted()).toEqual(waking.toSorted());
});

const links = pages.flatMap(({ path, text }) =>
  [...text.matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(#[^)\s]+)?\)/g)].map(([, file = '', anchor = '']) => ({
    path,
    target: `${file === '' ? path : join(dirname(path), file)}${anchor}`,
  })),
);

test.each(links)('$path: $target exists', ({ target }) => expectPage(target));

/** Pages that comments name, with or without a section. */
const namedPages = ['src', 'test', 'scripts', 'bench', 'lab'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => {
      const source = join(folder, name);
      return [...readFileSync(source, 'utf8').matchAll(/\bdocs\/[\w/-]+\.md(?:#[\w-]+)?/g)].map(([target]) => ({
        source,
        target,
      }));
    }),
);

test.each(namedPages)('$source: $target exists', ({ target }) => expectPage(target));

function expectPage(target: string): void {
  const [path = '', anchor] = target.split('#');
  expect(existsSync(path)).toBe(true);
  if (anchor !== undefined) expect(anchorsOf(path)).toContain(anchor);
}

/** Anchors of a page's headings, as the hosting platform makes them. */
function anchorsOf(path: string): string[] {
  return [...readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** One file, then one or several titles; an ellipsis stands for the part of a title that a table fills in. */
const named = pages.flatMap(({ path, text }) =>
  // Prose is wrapped: a title may run on to the next line.
  [
    ...text
      .replaceAll(/\s+/g, ' ')
      .matchAll(/`((?:unit|property|workerd|e2e|browser|attacks)\/[\w/-]+)`(?: ›|:) ((?:"[^"]+"(?:, )?)+)/g),
  ].flatMap(([, file = '', titles = '']) =>
    [...titles.matchAll(/"…?:? ?([^"]+?)…?"/g)].map(([, title = '']) => ({ path, file, title })),
  ),
);

test.each(named)('$path: $file › $title', ({ file, title }) => {
  const source = readFileSync(`test/${file}.test.ts`, 'utf8').replaceAll("\\'", "'");
  expect(source).toContain(title);
});

test('every page of docs/ is linked from another', () => {
  const linked = new Set(
    links.filter(({ path, target }) => !target.startsWith(path)).map(({ target }) => target.replace(/#.*/, '')),
  );
  const alone = pages.map(({ path }) => path).filter((path) => path.startsWith('docs/') && !linked.has(path));
  // A folder that is linked as a whole shows its README.
  expect(alone.filter((path) => !path.endsWith('README.md'))).toEqual([]);
});

test('every counter that an edge keeps is explained to operators', () => {
  const operations = readFileSync('docs/failure-modes.md', 'utf8');
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((name) => /^(edge|logsink)\/.*\.ts$/.test(name))
    .map((name) => readFileSync(join('src', name), 'utf8'))
    .join('\n');
  const counters = [...sources.matchAll(/(?:\bcount|Counters\.add|counters\.add)\(\s*['"`]([a-z_]+)/g)].map(
    ([, name = '']) => name,
  );
  expect(counters.length).toBeGreaterThan(20);
  const exported = new Set(metrics.map(({ name }) => name));
  expect([...new Set(counters)].filter((name) => !exported.has(name))).toEqual([]);
  expect([...new Set(counters)].filter((name) => !operations.includes(`\`${name}`))).toEqual([]);
  const labelled = [...sources.matchAll(/\(\s*['"`]([a-z_]+)\{([a-z]+)="([^"]+)"\}['"`]/g)];
  expect(labelled.length).toBeGreaterThan(15);
  const unknown = labelled.filter(([, name, label, value = '']) => {
    const known = metrics.find((metric) => metric.name === name)?.label;
    // What an expression stands for is not known here.
    return known?.name !== label || !(value.includes('${') || known?.values.includes(value));
  });
  expect(unknown.map(([text]) => text)).toEqual([]);
});

describe('the architecture page', () => {
  const page = readFileSync('docs/architecture.md', 'utf8');
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const names = (cell = '') =>
    [...cell.replace('base', '`result.ts`, `bytes`, `contract`').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

  test.each(Object.entries(mayImport))('lists what src/%s may import', (room, targets) => {
    const row = rows.find(([, name]) => name === `\`src/${room}\``);
    expect(names(row?.[3]).toSorted()).toEqual([...targets].toSorted());
  });

  test('lists the rooms of the edge from top to bottom', () => {
    const documented = rows.filter(([, floor = '']) => /^\d+$/.test(floor)).map(([, , rooms]) => names(rooms));
    expect(documented).toEqual(edgeFloors.map((floor) => floor.filter((room) => room !== 'env.d.ts')));
  });
});
