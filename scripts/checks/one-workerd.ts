/** One copy of workerd in the tree. With two, tests and the local stack can run on different runtimes. */
import { readFileSync } from 'node:fs';

export async function checkOneWorkerd(): Promise<string[]> {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { version?: string }>;
  };
  const found = Object.entries(lock.packages).filter(([path]) => /(^|\/)node_modules\/workerd$/.test(path));
  if (found.length === 1) return [];
  return [
    `package-lock.json has ${found.length} copies of workerd, expected 1: ${found.map(([path, { version }]) => `${path} ${version}`).join(', ')}`,
  ];
}
