/** Paths of all TypeScript files except generated ones. */
import { globSync } from 'node:fs';

export function sourceFiles(): string[] {
  return globSync(['{src,scripts,test,bench,lab}/**/*.{ts,tsx}', 'packages/*/src/**/*.{ts,tsx}']).filter(
    (path) => !/\.generated\.ts$|\.d\.ts$/.test(path),
  );
}
