/**
 * The state directory of a local stack: its secrets, the seeded account, the databases, and `stack.json`, where tests and
 * benchmarks find the stack. A directory has one running stack, because two would open the same SQLite files.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { endOrphans, isRunning, startOf } from './processes.ts';

/** Content of `stack.json`. */
export interface StackFacts {
  pid: number;
  edgeUrl: string;
  serviceUrl: string;
  originUrl: string;
  accountId: string;
  ownerEmail: string;
  apiKey: string;
  siteKey: string;
  secretKey: string;
  instanceId: string;
  clientJwt: string;
  signalsSecret: string;
  opsToken: string;
}

/** Generated once per directory and kept, because the stored keys are sealed under `masterKey`. */
export interface StackSecrets {
  masterKey: string;
  signalsSecret: string;
  opsToken: string;
}

/** Created at the first start and reused at the next. */
export interface Seed extends Pick<
  StackFacts,
  'accountId' | 'ownerEmail' | 'apiKey' | 'siteKey' | 'secretKey' | 'instanceId'
> {
  /** Issued over the API once the service runs. */
  clientJwt?: string;
}

/** How the command line reaches the stack that owns this directory. */
export interface ControlAddress {
  pid: number;
  url: string;
  token: string;
  /** The stack's workerd processes. */
  runtimes: number[];
}

/** The process that owns the directory. Written at the start, long before there is a control address. */
interface Owner {
  pid: number;
  started: string | null;
}

export class StateBusyError extends Error {
  constructor(dir: string, pid: number) {
    super(`A running stack uses ${dir} (process ${pid}). Stop it, or choose another directory with --state.`);
    this.name = 'StateBusyError';
  }
}

export class StateDir {
  readonly path: string;

  constructor(path: string) {
    this.path = resolve(path);
  }

  /** @throws StateBusyError when a running process owns the directory. */
  claim(fresh: boolean): void {
    const owner = this.#owner();
    if (owner) throw new StateBusyError(this.path, owner.pid);
    // The runtimes of a stack that was killed still have the databases open.
    endOrphans((this.#read('control.json') as ControlAddress | null)?.runtimes ?? []);
    if (fresh) rmSync(this.path, { recursive: true, force: true });
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    // The files of a stack that was killed describe processes that no longer run.
    this.release();
    const mine: Owner = { pid: process.pid, started: startOf(process.pid) };
    try {
      // With `wx`, one of two stacks that start at the same time creates the file.
      writeFileSync(join(this.path, 'owner.json'), JSON.stringify(mine), { mode: 0o600, flag: 'wx' });
    } catch {
      throw new StateBusyError(this.path, this.#owner()?.pid ?? 0);
    }
  }

  /** Storage of one Worker. Each has its own, so that one can be stopped while the other runs. */
  storage(worker: 'edge' | 'service'): string {
    return join(this.path, worker);
  }

  exists(): boolean {
    return existsSync(join(this.path, 'secrets.json'));
  }

  secrets(): StackSecrets {
    const kept = this.#read('secrets.json') as StackSecrets | null;
    if (kept) return kept;
    const made: StackSecrets = { masterKey: secret(), signalsSecret: secret(), opsToken: secret() };
    this.#write('secrets.json', made);
    return made;
  }

  seed(): Seed | null {
    return this.#read('seed.json') as Seed | null;
  }

  keepSeed(seed: Seed): void {
    this.#write('seed.json', seed);
  }

  publish(facts: StackFacts): void {
    this.#write('stack.json', facts);
  }

  openControl(address: ControlAddress): void {
    this.#write('control.json', address);
  }

  /** The address of the stack that runs on this directory, or `null`. */
  control(): ControlAddress | null {
    const address = this.#read('control.json') as ControlAddress | null;
    return address && this.#owner()?.pid === address.pid ? address : null;
  }

  /** Whether a stack has claimed the directory and is not ready yet. */
  isStarting(): boolean {
    return this.#owner() !== null && this.control() === null;
  }

  release(): void {
    for (const name of ['stack.json', 'control.json', 'owner.json']) this.#remove(name);
  }

  #owner(): Owner | null {
    const owner = this.#read('owner.json') as Owner | null;
    return owner && isRunning(owner.pid) && owner.started === startOf(owner.pid) ? owner : null;
  }

  #read(name: string): unknown {
    const path = join(this.path, name);
    return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
  }

  /** Atomic: a reader sees the old file or the new one. Only the owner can read it, because it has secrets. */
  #write(name: string, value: object): void {
    const path = join(this.path, name);
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
    chmodSync(draft, 0o600);
    renameSync(draft, path);
  }

  #remove(name: string): void {
    rmSync(join(this.path, name), { force: true });
  }
}

/** 256 bits, the size of the service's master key. */
function secret(): string {
  return randomBytes(32).toString('base64url');
}
