/**
 * The lockfile names every optional package of every platform. npm leaves out those that its registry
 * does not have, and `npm ci` elsewhere then refuses the file as out of date. `node scripts/checks/lockfile.ts`
 * adds what is missing; a platform that is not this one's is never fetched.
 */
import { readFileSync, writeFileSync } from 'node:fs';

interface LockedPackage {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const LOCKFILE = 'package-lock.json';
/** As npm's `os` and `cpu` fields spell what a package's name says. */
const systems: Record<string, string> = {
  android: 'android',
  darwin: 'darwin',
  freebsd: 'freebsd',
  linux: 'linux',
  openharmony: 'openharmony',
  win32: 'win32',
  windows: 'win32',
};
const processors = /^(arm|arm64|ia32|ppc64|riscv64|s390x|x64)$/;

interface Missing {
  path: string;
  entry: LockedPackage;
}

function missing(packages: Record<string, LockedPackage>): Missing[] {
  return Object.values(packages).flatMap(({ dev, optionalDependencies = {} }) =>
    Object.entries(optionalDependencies).flatMap(([name, version]) => {
      const path = `node_modules/${name}`;
      const isLocked = Object.keys(packages).some((known) => known === path || known.endsWith(`/${path}`));
      return isLocked ? [] : [{ path, entry: { version, ...platform(name), ...(dev ? { dev } : {}), optional: true } }];
    }),
  );
}

/** `@oxfmt/binding-linux-arm64-musl` → linux, arm64, musl; workerd says `64` for x64. */
function platform(name: string): LockedPackage {
  const words = name.split(/[/-]/);
  const os = words.map((word) => systems[word]).find((known) => known !== undefined);
  const cpu = words.find((word) => processors.test(word)) ?? (words.includes('64') ? 'x64' : undefined);
  return { ...(os === undefined ? {} : { os: [os] }), ...(cpu === undefined ? {} : { cpu: [cpu] }) };
}

export async function checkLockfile(): Promise<string[]> {
  const { packages } = JSON.parse(readFileSync(LOCKFILE, 'utf8')) as { packages: Record<string, LockedPackage> };
  const found = missing(packages).map(({ path }) => path);
  return found.length === 0
    ? []
    : [`${found.length} optional packages are not in it (${found[0]}, …): node scripts/checks/lockfile.ts adds them`];
}

if (import.meta.main) {
  const lock = JSON.parse(readFileSync(LOCKFILE, 'utf8')) as { packages: Record<string, LockedPackage> };
  for (const { path, entry } of missing(lock.packages)) lock.packages[path] = entry;
  const sorted = Object.entries(lock.packages).toSorted(([a], [b]) => a.localeCompare(b, 'en'));
  writeFileSync(LOCKFILE, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`);
}
