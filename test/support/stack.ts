/**
 * Stacks for tests, on free ports and in a directory that is removed with them. The files of a process share one: each has
 * an account of its own there. A file that changes what accounts share has a stack of its own, and says why in its first
 * line.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { sharedPromises } from '../../src/cli/runtime-options.ts';
import { type AccountOptions, PortBusyError, type Stack, type StackOptions, startStack } from '../../src/cli/stack.ts';
import { browse } from './browse.ts';
import { eventually } from './eventually.ts';
import { letThrough } from './let-through.ts';
import { somePortBase } from './ports.ts';
import { preparedBundle } from './prepared-bundle.ts';

export { eventually } from './eventually.ts';
export { letThrough } from './let-through.ts';
export { changeSite, edgeIsUpToDate, manage } from './manage.ts';

const ATTEMPTS = 20;

interface TestStackOptions extends StackOptions {
  /** How far the clock of both Workers runs ahead of the machine's. Only a bundle that a test has made can be told. */
  clockAheadMs?: number;
}

export async function startTestStack({ clockAheadMs = 0, ...options }: TestStackOptions = {}): Promise<Stack> {
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
        bundle: async (entry) => clockAhead(clockAheadMs) + (await preparedBundle(inject('preparedBundles'), entry)),
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

/** What stands before a Worker's own code. */
function clockAhead(ms: number): string {
  if (ms === 0) return '';
  return `{
    const Machine = Date;
    globalThis.Date = class extends Machine {
      constructor(...parts) {
        super(...(parts.length === 0 ? [Machine.now() + ${ms}] : parts));
      }
      static now() {
        return Machine.now() + ${ms};
      }
    };
  }\n`;
}

/** Until an edge has its rules, it fails open and issues no challenges. */
export async function rulesLoaded({ edgeUrl }: Pick<Stack, 'edgeUrl'>): Promise<void> {
  const health = async () => (await browse(`${edgeUrl}/__protect/health`)).json() as Promise<{ status: string }>;
  await eventually(health, ({ status }) => status === 'ok');
}

/** The stack of this process. Whichever file needs it first starts it, and it ends with the process. */
const ofTheProcess = globalThis as { sharedStack?: Promise<Stack>; accountsOpened?: number };

/**
 * The stack that all files of a process share, with an account, an instance and an edge for this file alone. A file that
 * stops the service need not start it again for the next one. No file stops the stack.
 */
export async function openStack(options: Omit<AccountOptions, 'ownerEmail'> = {}): Promise<Stack> {
  const number = (ofTheProcess.accountsOpened = (ofTheProcess.accountsOpened ?? 0) + 1);
  const account = { seedChanges: letThrough, ...options, ownerEmail: `owner-${number}@example.com` };
  if (ofTheProcess.sharedStack === undefined) return (ofTheProcess.sharedStack = startSharedStack(account));
  const stack = await (await ofTheProcess.sharedStack).openAccount(account);
  await rulesLoaded(stack);
  return stack;
}

/** Opened before the file's first test. */
export function useStack(options: Parameters<typeof openStack>[0] = {}): () => Stack {
  let stack: Stack | undefined;
  beforeAll(async () => {
    stack = await openStack(options);
  });
  afterAll(noSharedPromise);
  return () => {
    if (!stack) throw new Error('The stack is used before it is started');
    return stack;
  };
}

function noSharedPromise(): void {
  expect(sharedPromises.splice(0), 'A request settled a promise of another one').toEqual([]);
}

async function startSharedStack(account: AccountOptions): Promise<Stack> {
  const stack = await startTestStack(account).catch((error: unknown) => {
    delete ofTheProcess.sharedStack;
    throw error;
  });
  // The simulator ends its workerd processes in a handler of its own, which it has added before.
  process.on('exit', () => rmSync(stack.stateDir, { recursive: true, force: true }));
  return stack;
}

/** A stack that starts before the file's first test and stops after its last. The file's first line says why it has one. */
export function useOwnStack(options: StackOptions): () => Stack {
  let stack: Stack | undefined;
  beforeAll(async () => {
    stack = await startTestStack(options);
  });
  afterAll(async () => {
    await stack?.stop();
    noSharedPromise();
  });
  return () => {
    if (!stack) throw new Error('The stack is used before it is started');
    return stack;
  };
}
