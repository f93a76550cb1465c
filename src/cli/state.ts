/**
 * The state directory of a local stack: its secrets, the seeded account, the databases, and `stack.json`, where tests and
 * benchmarks find the stack. A directory has one running stack, because two would open the same SQLite files.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod/mini';
import { endOrphans, isRunning, startOf } from './processes.ts';
import { SECRETS_FILE, StateError, damaged, deleteOwn, mustBeOwn, mustBeUsable, onDisk } from './state-files.ts';

/** Raise it when an older checkout could not use the directory any more. */
const FORMAT = 1;

/** Content of `stack.json`. */
export interface StackFacts {
  pid: number;
  edgeUrl: string;
  serviceUrl: string;
  consoleUrl: string;
  /** A one-time link into the console, made at the start. */
  signInUrl: string;
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

const text = z.string().check(z.minLength(1));

/** Generated once per directory and kept, because the stored keys are sealed under `masterKey`. */
const stackSecrets = z.object({
  /** Absent in directories of the first version. */
  format: z._default(z.number(), 1),
  masterKey: text,
  signalsSecret: text,
  opsToken: text,
});
export type StackSecrets = z.infer<typeof stackSecrets>;

/** Created at the first start and reused at the next. */
const seed = z.object({
  accountId: text,
  ownerEmail: text,
  apiKey: text,
  siteKey: text,
  secretKey: text,
  instanceId: text,
  /** Issued over the API once the service runs. */
  clientJwt: z.optional(text),
});
export type Seed = z.infer<typeof seed>;

/** How the command line reaches the stack that owns this directory. */
const controlAddress = z.object({
  pid: z.number(),
  url: text,
  token: text,
  /** The stack's workerd processes. */
  runtimes: z.array(z.number()),
});
export type ControlAddress = z.infer<typeof controlAddress>;

/** The process that owns the directory. Written at the start, long before there is a control address. */
const owner = z.object({ pid: z.number(), started: z.nullable(z.string()) });
type Owner = z.infer<typeof owner>;

export class StateBusyError extends StateError {
  constructor(dir: string, pid: number) {
    super(`A running stack uses ${dir} (process ${pid}). Stop it, or choose another directory with --state.`);
  }
}

export class StateDir {
  readonly path: string;

  constructor(path: string) {
    this.path = resolve(path);
  }

  /** @throws StateError when a running process owns the directory, or when it is not a usable state directory. */
  claim(fresh: boolean): void {
    mustBeOwn(this.path);
    // A damaged file describes no running stack: the files that do are complete from the start.
    const running = fresh ? this.#unlessDamaged(() => this.#owner()) : this.#owner();
    if (running) throw new StateBusyError(this.path, running.pid);
    // The runtimes of a stack that was killed still have the databases open.
    const read = () => this.#read('control.json', controlAddress);
    endOrphans((fresh ? this.#unlessDamaged(read) : read())?.runtimes ?? []);
    if (fresh) deleteOwn(this.path, this.#unlessDamaged(() => this.#secrets()) !== null || !this.exists());
    else this.check();
    // Not `recursive`, which never returns on a file system that refuses the directory with ENOENT, such as /proc.
    onDisk(this.path, () => existsSync(this.path) || mkdirSync(this.path, { mode: 0o700 }));
    // The files of a stack that was killed describe processes that no longer run.
    this.release();
    this.#own();
  }

  /** @throws StateError when a file is damaged, cannot be written, or is of a newer version. */
  check(): void {
    if (!this.exists()) return;
    this.#secrets();
    this.seed();
    mustBeUsable(this.path);
  }

  #own(): void {
    const path = join(this.path, 'owner.json');
    const draft = `${path}.${process.pid}`;
    const mine: Owner = { pid: process.pid, started: startOf(process.pid) };
    onDisk(path, () => {
      writeFileSync(draft, JSON.stringify(mine), { mode: 0o600 });
      try {
        // Of two stacks that start at the same time, one creates the link. A reader sees no half of the file.
        linkSync(draft, path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
        throw new StateBusyError(this.path, this.#owner()?.pid ?? 0);
      } finally {
        rmSync(draft, { force: true });
      }
    });
  }

  /** Storage of one Worker. Each has its own, so that one can be stopped while the other runs. */
  storage(worker: 'edge' | 'service'): string {
    return join(this.path, worker);
  }

  exists(): boolean {
    return existsSync(join(this.path, SECRETS_FILE));
  }

  secrets(): StackSecrets {
    const kept = this.#secrets();
    if (kept) return kept;
    const made = { format: FORMAT, masterKey: secret(), signalsSecret: secret(), opsToken: secret() };
    this.#write(SECRETS_FILE, made);
    return made;
  }

  seed(): Seed | null {
    return this.#read('seed.json', seed);
  }

  keepSeed(made: Seed): void {
    this.#write('seed.json', made);
  }

  publish(facts: StackFacts): void {
    this.#write('stack.json', facts);
  }

  openControl(address: ControlAddress): void {
    this.#write('control.json', address);
  }

  /** The address of the stack that runs on this directory, or `null`. */
  control(): ControlAddress | null {
    const address = this.#read('control.json', controlAddress);
    return address && this.#owner()?.pid === address.pid ? address : null;
  }

  /** Whether a stack has claimed the directory and is not ready yet. */
  isStarting(): boolean {
    return this.#owner() !== null && this.control() === null;
  }

  release(): void {
    for (const name of ['stack.json', 'control.json', 'owner.json']) this.#remove(name);
  }

  #secrets(): StackSecrets | null {
    const kept = this.#read(SECRETS_FILE, stackSecrets);
    if (kept === null || kept.format <= FORMAT) return kept;
    throw new StateError(
      `${this.path} was made by a newer version. Update this checkout, or choose another directory with --state.`,
    );
  }

  #owner(): Owner | null {
    const found = this.#read('owner.json', owner);
    return found && isRunning(found.pid) && found.started === startOf(found.pid) ? found : null;
  }

  /** @throws StateError when the file is not what a stack wrote. */
  #read<Schema extends z.ZodMiniType>(name: string, schema: Schema): z.infer<Schema> | null {
    const path = join(this.path, name);
    if (!existsSync(path)) return null;
    const source = onDisk(path, () => readFileSync(path, 'utf8'));
    try {
      return schema.parse(JSON.parse(source));
    } catch {
      throw damaged(path);
    }
  }

  #unlessDamaged<Value>(read: () => Value): Value | null {
    try {
      return read();
    } catch (error) {
      if (error instanceof StateError) return null;
      throw error;
    }
  }

  /** Atomic: a reader sees the old file or the new one. Only the owner can read it, because it has secrets. */
  #write(name: string, value: object): void {
    const path = join(this.path, name);
    const draft = `${path}.${process.pid}`;
    onDisk(path, () => {
      writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
      chmodSync(draft, 0o600);
      renameSync(draft, path);
    });
  }

  #remove(name: string): void {
    const path = join(this.path, name);
    onDisk(path, () => rmSync(path, { force: true }));
  }
}

/** 256 bits, the size of the service's master key. */
function secret(): string {
  return randomBytes(32).toString('base64url');
}
