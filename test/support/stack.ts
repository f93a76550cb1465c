/** A stack for one test file, on free ports and in a directory that is removed with it. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, inject } from 'vitest';
import { PortBusyError, startStack } from '../../src/cli/stack.ts';
import type { Stack, StackOptions } from '../../src/cli/stack.ts';
import { browse } from './browse.ts';
import { eventually } from './eventually.ts';
import { letThrough } from './let-through.ts';
import { somePortBase } from './ports.ts';
import { preparedBundle } from './prepared-bundle.ts';

export { eventually } from './eventually.ts';
export { letThrough } from './let-through.ts';
export { changeSite, manage } from './manage.ts';

const ATTEMPTS = 20;

export async function startTestStack(options: StackOptions = {}): Promise<Stack> {
  const stateDir = options.stateDir ?? mkdtempSync(join(tmpdir(), 'gatehouse-test-'));
  if (options.stateDir === undefined) cpSync(inject('preparedState'), stateDir, { recursive: true });
  for (let attempt = 1; ; attempt += 1) {
    const portBase = somePortBase();
    try {
      const stack = await startStack({
        portBase,
        stateDir,
        quiet: true,
        seedChanges: letThrough,
        bundle: (entry) => preparedBundle(inject('preparedBundles'), entry),
        ...options,
      });
      if (options.stateDir !== undefined) return stack;
      const stop = async (): Promise<void> => {
        await stack.stop();
        rmSync(stateDir, { recursive: true, force: true });
      };
      await rulesLoaded(stack).catch(async (error: unknown) => {
        await stop();
        throw error;
      });
      return { ...stack, stop };
    } catch (error) {
      if (!(error instanceof PortBusyError) || attempt === ATTEMPTS || options.portBase !== undefined) throw error;
    }
  }
}

/** Until an edge has its rules, it fails open and issues no challenges. */
export async function rulesLoaded({ edgeUrl }: Pick<Stack, 'edgeUrl'>): Promise<void> {
  const health = async () => (await browse(`${edgeUrl}/__protect/health`)).json() as Promise<{ status: string }>;
  await eventually(health, ({ status }) => status === 'ok');
}

/** Started before the file's first test and stopped after its last. */
export function useStack(options: StackOptions = {}): () => Stack {
  let stack: Stack | undefined;
  beforeAll(async () => {
    stack = await startTestStack(options);
  });
  afterAll(async () => {
    await stack?.stop();
  });
  return () => {
    if (!stack) throw new Error('The stack is used before it is started');
    return stack;
  };
}
