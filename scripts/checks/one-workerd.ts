/** One workerd in the tree: a second one means that tests run on another runtime than the stack. */
import { readFileSync } from 'node:fs';

export async function checkOneWorkerd(): Promise<string[]> {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<string, { version?: string }>;
  };
  const found = Object.entries(lock.packages).filter(([path]) => /(^|\/)node_modules\/workerd$/.test(path));
  if (found.length === 1) return [];
  return [`${found.length} of them: ${found.map(([path, { version }]) => `${path} ${version}`).join(', ')}`];
}
