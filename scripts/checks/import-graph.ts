/**
 * Import boundaries: which room may import which, also inside the store and the service, no arrow upward inside the edge,
 * and no name that two files of the edge export. The linter finds circles. The rooms are described in
 * docs/architecture.md. Run alone, it prints the arrows between the rooms of `src/edge`.
 */
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { sourceFiles } from './source-files.ts';

const PURE = ['result.ts', 'bytes', 'contract'];
/** Rooms of `src/` and the rooms each may import, beside itself. */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  'result.ts': [],
  bytes: ['result.ts'],
  contract: ['result.ts', 'bytes'],
  locales: [],
  branding: PURE,
  address: PURE,
  rules: [...PURE, 'address'],
  bots: [...PURE, 'address', 'rules'],
  lists: [...PURE, 'address'],
  policies: [...PURE, 'address', 'rules'],
  limits: [...PURE, 'address'],
  risk: [...PURE, 'address'],
  captcha: [...PURE, 'address', 'risk'],
  verify: [...PURE, 'captcha'],
  decide: [...PURE, 'address', 'rules', 'bots', 'policies', 'risk', 'captcha'],
  alerts: PURE,
  attack: PURE,
  logsink: PURE,
  store: [...PURE, 'address', 'rules', 'bots', 'lists', 'policies', 'limits', 'risk', 'captcha', 'alerts', 'attack'],
  widget: [...PURE, 'captcha', 'locales'],
  console: [...PURE, 'policies'],
  edge: [
    ...PURE,
    'address',
    'rules',
    'bots',
    'policies',
    'decide',
    'limits',
    'risk',
    'captcha',
    'verify',
    'logsink',
    'locales',
    'branding',
    'widget',
  ],
  service: [
    ...PURE,
    'address',
    'rules',
    'bots',
    'lists',
    'policies',
    'decide',
    'limits',
    'risk',
    'captcha',
    'verify',
    'logsink',
    'locales',
    'branding',
    'alerts',
    'attack',
    'store',
    'widget',
    'console',
  ],
};
/** The npm packages, and the rooms of `src` that each may bundle. Nothing in `src` imports a package. */
const packageMayImport: Readonly<Record<string, readonly string[]>> = {
  server: ['bytes', 'contract', 'captcha'],
  widget: [],
};
/** The Workers carry browser code as generated text only, never as modules. */
const CARRIED_BROWSER_CODE = /^src\/(widget|console)\/[a-z-]+\.generated\.ts$/;

/** Rooms of `src/store` and the rooms of it each may import, beside itself. Single files are open to all. */
const storeMayImport: Readonly<Record<string, readonly string[]>> = {
  keys: [],
  d1: ['keys'],
  'rule-book': ['d1', 'keys'],
  'risk-book': ['d1', 'keys'],
  'spend-ledger': [],
  'limit-ledger': [],
  'attack-watch': [],
  'event-log': [],
  'object-schema.ts': ['d1'],
};
/** Rooms of `src/service` and the rooms of it each may import. The files above the rooms may import all of them. */
const serviceMayImport: Readonly<Record<string, readonly string[]>> = {
  'environment.ts': ['sign-in-variables.ts', 'outbound-variables.ts'],
  'sign-in-variables.ts': [],
  'outbound-variables.ts': [],
  http: ['environment.ts', 'sign-in-variables.ts'],
  bots: ['environment.ts'],
  lists: ['environment.ts', 'outbound-variables.ts', 'proofs'],
  ingest: ['environment.ts'],
  captcha: ['environment.ts', 'http', 'ingest'],
  proofs: ['environment.ts', 'outbound-variables.ts', 'http'],
  alerts: ['environment.ts', 'outbound-variables.ts', 'proofs'],
  attack: ['environment.ts', 'alerts'],
  'edge-api': ['environment.ts', 'http', 'ingest', 'captcha', 'proofs', 'bots', 'attack'],
  operations: ['environment.ts', 'outbound-variables.ts', 'http', 'ingest', 'bots', 'alerts', 'lists'],
  console: ['environment.ts', 'sign-in-variables.ts', 'http'],
  docs: ['http'],
};
/**
 * Code that runs inside a Durable Object, and code that calls it. They share files of RPC types and import nothing else
 * of each other, so that no function runs on the wrong side.
 */
const OBJECT_SIDE = /^src\/store\/[a-z-]+\/(object|shard|columns)\//;
const CALLER_SIDE = /^src\/store\/[a-z-]+\/client(\/|\.ts$)/;
/** Exports the object classes to the platform. */
const OBJECT_EXPORTS = 'src/service/index.ts';

/** Rooms of `src/edge`, top to bottom: an import points down, or stays in its room. */
export const edgeFloors: readonly (readonly string[])[] = [
  ['index.ts', 'any-service.ts'],
  ['app.ts'],
  ['protect'],
  ['gate.ts'],
  ['isolate'],
  ['challenge', 'origin'],
  ['step'],
  ['answer'],
  ['decide'],
  ['feed', 'submission', 'session', 'limits'],
  ['config'],
  ['request'],
  ['environment.ts'],
];

export interface Import {
  from: string;
  to: string;
}

const SPECIFIER = /(?:\bfrom\s*|\bimport\s*\(?\s*)'(\.{1,2}\/[^']+)'/g;

export function importsOf(paths: readonly string[]): Import[] {
  return paths.flatMap((from) =>
    [...readFileSync(from, 'utf8').matchAll(SPECIFIER)].map(([, specifier = '']) => ({
      from,
      to: posix.join(posix.dirname(from), specifier),
    })),
  );
}

export async function checkImportGraph(): Promise<string[]> {
  const imports = importsOf(sourceFiles().filter((path) => !path.startsWith('test/')));
  return [
    ...imports.flatMap(forbiddenImport),
    ...imports.flatMap(forbiddenInPackages),
    ...imports.flatMap(forbiddenInStore),
    ...imports.flatMap(forbiddenInService),
    ...upwardArrows(imports).map(({ from, to }) => `${from} imports ${to}, which lies above it`),
    ...namesTwice(imports).map(([name, files]) => `${name} is exported by ${files.join(' and by ')}`),
  ];
}

function forbiddenImport({ from, to }: Import): string[] {
  const [room, target] = [roomIn('src', from), roomIn('src', to)];
  if (room === null || target === null || room === target || room === 'cli') return [];
  if ((target === 'widget' || target === 'console') && !CARRIED_BROWSER_CODE.test(to))
    return [`${from} imports browser code: ${to}`];
  return mayImport[room]?.includes(target) ? [] : [`${from} imports ${to}: src/${room} may not import src/${target}`];
}

function forbiddenInPackages({ from, to }: Import): string[] {
  const [name, target] = [roomIn('packages', from), roomIn('packages', to)];
  if (name === target) return [];
  if (target !== null) return from.startsWith('src/') || name !== null ? [`${from} imports the package ${to}`] : [];
  const room = roomIn('src', to) ?? to;
  return packageMayImport[name ?? '']?.includes(room)
    ? []
    : [`${from} imports ${to}: packages/${name} may not bundle it`];
}

function forbiddenInStore({ from, to }: Import): string[] {
  const forbidden = (why: string): string[] => [`${from} imports ${to}: ${why}`];
  if (!from.startsWith('src/')) return [];
  if (!OBJECT_SIDE.test(from) && OBJECT_SIDE.test(to) && from !== OBJECT_EXPORTS) {
    return forbidden('it runs inside a Durable Object');
  }
  if (OBJECT_SIDE.test(from) && CALLER_SIDE.test(to)) return forbidden('it calls the Durable Object from outside');
  if (from.includes('/event-log/columns/') && to.includes('/event-log/shard/')) return forbidden('it lies above it');
  const [room, target] = [roomIn('src/store', from), roomIn('src/store', to)];
  if (room === null || target === null || room === target || target.endsWith('.ts')) return [];
  return storeMayImport[room]?.includes(target)
    ? []
    : forbidden(`src/store/${room} may not import src/store/${target}`);
}

function forbiddenInService({ from, to }: Import): string[] {
  const [room, target] = [roomIn('src/service', from), roomIn('src/service', to)];
  if (room === null || target === null || room === target) return [];
  return (serviceMayImport[room]?.includes(target) ?? room.endsWith('.ts'))
    ? []
    : [`${from} imports ${to}: src/service/${room} may not import src/service/${target}`];
}

/** The folder, or the file, directly below `parent`. */
function roomIn(parent: string, path: string): string | null {
  return path.startsWith(`${parent}/`) ? (path.slice(parent.length + 1).split('/')[0] ?? null) : null;
}

function edgeArrows(imports: readonly Import[]): (Import & { rooms: readonly [from: string, to: string] })[] {
  return imports.flatMap((arrow) => {
    const [from, to] = [roomIn('src/edge', arrow.from), roomIn('src/edge', arrow.to)];
    return from === null || to === null || from === to ? [] : [{ ...arrow, rooms: [from, to] as const }];
  });
}

function floorOf(room: string): number {
  return edgeFloors.findIndex((rooms) => rooms.includes(room));
}

function upwardArrows(imports: readonly Import[]): Import[] {
  return edgeArrows(imports).filter(({ rooms: [from, to] }) => floorOf(from) < 0 || floorOf(to) < floorOf(from));
}

const EDGE_ENTRIES = ['src/edge/index.ts', 'src/edge/any-service.ts'];
const EXPORTED = /^export (?:async )?(?:function\*?|class|const|type|interface) (\w+)/gm;

/** Names that more than one file exports, among the files that the edge is made of. */
function namesTwice(imports: readonly Import[]): (readonly [name: string, files: string[]])[] {
  const reached = new Set(EDGE_ENTRIES);
  for (const file of reached) for (const { from, to } of imports) if (from === file) reached.add(to);
  const exporters = new Map<string, string[]>();
  for (const file of reached) {
    if (file.includes('.generated.')) continue;
    for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(EXPORTED))
      exporters.set(name, [...(exporters.get(name) ?? []), file]);
  }
  return [...exporters].filter(([, files]) => files.length > 1);
}

if (import.meta.main) {
  const imports = importsOf(sourceFiles().filter((path) => path.startsWith('src/')));
  const arrows = new Set(edgeArrows(imports).map(({ rooms }) => rooms.join(' → ')));
  console.log([...arrows].toSorted().join('\n'));
  console.log(`${arrows.size} arrows between the rooms of src/edge, ${upwardArrows(imports).length} imports upward`);
}
