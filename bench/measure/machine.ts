/** The kind of machine that a table was measured on: processor, cores, memory and the versions that are compared. */
import { existsSync, readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';

const GIBIBYTE = 2 ** 30;

export function machineLine(versions: Readonly<Record<string, string>>): string {
  const memory = `${Math.round(totalmem() / GIBIBYTE)} GiB`;
  const processor = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown processor'}`;
  const named = Object.entries({ Node: process.versions.node, ...versions }).map(
    ([name, version]) => `${name} ${version}`,
  );
  return `${processor}, ${memory}, ${process.platform}; ${named.join(', ')}`;
}

/** Of an installed package. */
export function packageVersion(name: string): string {
  const [path = ''] = [`bench/node_modules/${name}/package.json`, `node_modules/${name}/package.json`].filter(
    existsSync,
  );
  const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version: string };
  return version;
}
