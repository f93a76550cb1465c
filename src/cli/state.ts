/**
 * The state directory of a local stack: its secrets, the seeded account, the databases, and `stack.json`, where tests and
 * benchmarks find the stack. One process has it at a time, because two would open the same SQLite files.
 */
import { randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod/mini';
import {
  OWNER_FILE,
  SECRETS_FILE,
  StateError,
  damaged,
  deleteOwn,
  mustBeOwn,
  mustBeUsable,
  onDisk,
} from './state-files.ts';
import {
  StateBusyError,
  becomeOwner,
  endOrphans,
  isLive,
  keepRuntimes,
  ownRuntimes,
  type Task,
  writtenOwner,
} from './state-owner.ts';

/** Raise it when an older checkout could not use the directory any more. */
const FORMAT = 1;

/** Content of `stack.json`. */
export interface StackFacts extends Omit<Seed, 'clientJwt'>, Pick<StackSecrets, 'signalsSecret' | 'opsToken'> {
  pid: number;
  edgeUrl: string;
  serviceUrl: string;
  consoleUrl: string;
  /** A one-time link into the console, made at the start. */
  signInUrl: string;
  originUrl: string;
  clientJwt: string;
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

/** A command takes seconds. A stack that starts can be asked after as long. */
const FREE_WITHIN_MS = 60_000;
const FREE_POLL_MS = 50;

export class StateDir {
  readonly path: string;

  constructor(path: string) {
    this.path = resolve(path);
  }

  /**
   * Makes this process the owner of the directory.
   * @throws StateError when a running process owns it, or when it is not a usable state directory.
   */
  claim(fresh: boolean, task: Task = 'stack'): void {
    mustBeOwn(this.path);
    // Not `recursive`, which never returns on a file system that refuses the directory with ENOENT, such as /proc.
    onDisk(this.path, () => existsSync(this.path) || mkdirSync(this.path, { mode: 0o700 }));
    onDisk(this.path, () => accessSync(this.path, constants.W_OK));
    // A damaged file describes no running stack: the files that do are complete from the start.
    const former = writtenOwner(this.path, fresh);
    becomeOwner(this.path, task, fresh);
    try {
      const control = this.#read('control.json', controlAddress, fresh);
      // The runtimes of a process that was killed still have the databases open.
      endOrphans([...(control?.runtimes ?? []), ...(former?.runtimes ?? [])]);
      if (fresh) deleteOwn(this.path, !this.exists() || this.#read(SECRETS_FILE, stackSecrets, true) !== null);
      else this.check();
    } catch (error) {
      this.#remove(OWNER_FILE);
      throw error;
    }
    // The files of a stack that was killed describe processes that no longer run.
    for (const name of ['stack.json', 'control.json']) this.#remove(name);
  }

  /**
   * Waits for a command that has the directory. `null`: the directory is this process's.
   * A command waits for a stack that starts too, and gets the address at which it asks that stack.
   * @throws StateError as `claim` does.
   */
  async claimOrReach(task: Task, fresh = false): Promise<ControlAddress | null> {
    const untilMs = Date.now() + FREE_WITHIN_MS;
    for (;;) {
      const running = task === 'command' ? this.control() : null;
      if (running) return running;
      try {
        this.claim(fresh, task);
        return null;
      } catch (error) {
        const isWaiting = error instanceof StateBusyError && (task === 'command' || error.task === 'command');
        if (!isWaiting || Date.now() > untilMs) throw error;
      }
      await new Promise((wake) => setTimeout(wake, FREE_POLL_MS));
    }
  }

  /** Keeps the ids of this process's workerd processes, for the case that it is killed. */
  keepRuntimes(task: Task): void {
    keepRuntimes(this.path, task, ownRuntimes());
  }

  /** @throws StateError when a file is damaged, cannot be written, or is of a newer version. */
  check(): void {
    if (!this.exists()) return;
    this.#secrets();
    this.seed();
    mustBeUsable(this.path);
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
    const owner = writtenOwner(this.path);
    return address && owner && isLive(owner) && owner.pid === address.pid ? address : null;
  }

  release(): void {
    for (const name of ['stack.json', 'control.json', OWNER_FILE]) this.#remove(name);
  }

  #secrets(): StackSecrets | null {
    const kept = this.#read(SECRETS_FILE, stackSecrets);
    if (kept === null || kept.format <= FORMAT) return kept;
    throw new StateError(
      `${this.path} was made by a newer version. Update this checkout, or choose another directory with --state.`,
    );
  }

  /** @throws StateError when the file is not what a stack wrote. */
  #read<Schema extends z.ZodMiniType>(name: string, schema: Schema, overDamaged = false): z.infer<Schema> | null {
    const path = join(this.path, name);
    if (!existsSync(path)) return null;
    const source = onDisk(path, () => readFileSync(path, 'utf8'));
    try {
      return schema.parse(JSON.parse(source));
    } catch {
      if (overDamaged) return null;
      throw damaged(path, this.path);
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
