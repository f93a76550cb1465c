/** The bundles of the Workers, built once for all processes of a run. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleForStack } from '../../src/cli/worker-config.ts';

export const bundlePath = (folder: string, entry: string): string => join(folder, `${entry.replaceAll('/', '-')}.js`);

/** A Worker that few stacks start is not prepared. */
export async function preparedBundle(folder: string, entry: string): Promise<string> {
  const path = bundlePath(folder, entry);
  return existsSync(path) ? readFile(path, 'utf8') : bundleForStack(entry);
}
