/** One version number: package.json's. The npm packages, the lockfile, `src/contract/version.ts`, the OpenAPI document and the changelog's first heading repeat it. */
import { globSync, readFileSync } from 'node:fs';
import { GATEHOUSE_VERSION } from '../../src/contract/version.ts';

export async function checkOneVersion(): Promise<string[]> {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    version: string;
    packages: Record<string, { version?: string }>;
  };
  const openapi = JSON.parse(readFileSync('docs/openapi.json', 'utf8')) as { info: { version: string } };
  const places: readonly [string, string | undefined][] = [
    ['package-lock.json', lock.version],
    ['package-lock.json (packages)', lock.packages['']?.version],
    ...globSync('packages/*/package.json').map((path): [string, string | undefined] => [
      path,
      (JSON.parse(readFileSync(path, 'utf8')) as { version?: string }).version,
    ]),
    ['src/contract/version.ts', GATEHOUSE_VERSION],
    ['docs/openapi.json', openapi.info.version],
    ['CHANGELOG.md, first heading', /^## (\S+)/m.exec(readFileSync('CHANGELOG.md', 'utf8'))?.[1]],
  ];
  return places.flatMap(([place, found]) =>
    found === version ? [] : [`${place} has version ${found ?? 'none'}, package.json has ${version}`],
  );
}
