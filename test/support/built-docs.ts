/** The documentation site, built before a file's stack starts. It is skipped when nothing changed. */
import { execFileSync } from 'node:child_process';
import { beforeAll } from 'vitest';

export function useBuiltDocs(): void {
  beforeAll(() => {
    execFileSync(process.execPath, ['scripts/build-docs.ts'], { stdio: 'pipe' });
  });
}
