/** Paths of all TypeScript files except generated ones. */
import { globSync } from 'node:fs';

export function sourceFiles(): string[] {
  const folders = [
    '{src,scripts,test,bench,lab}/**/*.{ts,tsx}',
    'packages/*/src/**/*.{ts,tsx}',
    'docs/.vitepress/**/*.ts',
  ];
  return globSync(folders, { exclude: (path) => path.endsWith('node_modules') }).filter(
    (path) => !/\.generated\.ts$|\.d\.ts$/.test(path),
  );
}
