/** The process of a stack's service, for tests that kill or freeze it. */
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from '../../src/cli/stack.ts';
import { ownRuntimes } from '../../src/cli/state-owner.ts';

/** The runtime that holds the service's files open. */
export function serviceRuntime({ stateDir }: Pick<Stack, 'stateDir'>): number {
  const files = join(stateDir, 'service');
  const found = ownRuntimes().find((pid) =>
    readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith(files);
      } catch {
        // Closed between listing and reading.
        return false;
      }
    }),
  );
  if (found === undefined) throw new Error('no runtime holds the files of the service');
  return found;
}
