/** docs/architecture.md lists what each room may import, and the rooms of the edge from top to bottom. */
import { readFileSync } from 'node:fs';
import { edgeFloors, mayImport } from './import-graph.ts';

const PAGE = 'docs/architecture.md';

export async function checkArchitecturePage(): Promise<string[]> {
  const rows = readFileSync(PAGE, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.split('|').map((cell) => cell.trim()));
  const imports = Object.entries(mayImport).flatMap(([room, targets]) => {
    const row = rows.find(([, name]) => name === `\`src/${room}\``);
    return differing(`src/${room} may import`, namesIn(row?.[3]).toSorted(), targets.toSorted());
  });
  const floors = rows.filter(([, floor = '']) => /^\d+$/.test(floor)).map(([, , rooms]) => namesIn(rooms));
  return [...imports, ...differing('the rooms of the edge', floors, edgeFloors)];
}

function namesIn(cell = ''): string[] {
  const whole = cell.replace('base', '`result.ts`, `bytes`, `contract`');
  return [...whole.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
}

function differing(what: string, documented: unknown, actual: unknown): string[] {
  const [page, code] = [documented, actual].map((value) => JSON.stringify(value));
  return page === code ? [] : [`${PAGE}, ${what}: the page has ${page}, the check has ${code}`];
}
