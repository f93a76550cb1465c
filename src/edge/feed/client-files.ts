/**
 * Browser files and page texts that this Worker does not carry: fetched from the service under the content hash that is
 * compiled in here, kept in the colo cache, and copied to KV by the scheduled run. The body's hash is checked wherever
 * it comes from: a service of another release has another file, which is not served under this release's name.
 */
import type { Bytes } from '../../bytes/utf8.ts';
import { sha256Hex } from '../../bytes/hex.ts';
import { assetHashes } from '../../widget/bundle.generated.ts';
import { failed, ok, type Result } from '../../result.ts';
import type { ServiceClient } from './service-client.ts';
import type { PartStore } from './stored-parts.ts';
import { type Count, UNREADABLE } from './upstream.ts';

/** A file is some ten kilobytes. */
const FILE_MAX_BYTES = 256 * 1024;
const FETCH_TIMEOUT_MS = 5000;
/** A file that could not be read is not asked for again before this. */
const RETRY_AFTER_MS = 5000;

/** `absent`: this release's file was found nowhere. `unreachable`: the service did not respond either. */
export interface FileFault {
  kind: 'absent' | 'unreachable';
}
export type FileReading = Result<Bytes, FileFault>;

export interface EmbeddedFile {
  hash: string;
  body: string;
}

export interface ClientFilesOptions {
  embedded: Readonly<Record<string, EmbeddedFile>>;
  /** `null`: only what is embedded (another service has none of these). */
  service: Pick<ServiceClient, 'ask'> | null;
  cache: PartStore;
  kv: PartStore;
  count: Count;
  now(): number;
}

export class ClientFiles {
  readonly #options: ClientFilesOptions;
  readonly #failures = new Map<string, { atMs: number; fault: FileFault }>();

  constructor(options: ClientFilesOptions) {
    this.#options = options;
  }

  embedded(name: string): EmbeddedFile | null {
    const { embedded } = this.#options;
    return Object.hasOwn(embedded, name) ? (embedded[name] ?? null) : null;
  }

  /** Files that come from the service: name and hash. */
  get fetched(): readonly (readonly [name: string, hash: string])[] {
    if (this.#options.service === null) return [];
    return Object.entries(assetHashes).filter(([name]) => this.embedded(name) === null);
  }

  /** From the nearest place that has the file. */
  async read(name: string): Promise<FileReading> {
    const { cache, kv } = this.#options;
    const hash = this.fetched.find(([known]) => known === name)?.[1];
    if (hash === undefined) return failed({ kind: 'absent' });
    const cached = await cache.get(filePartName(name, hash));
    if (cached && (await hasHash(cached, hash))) return ok(cached);
    const failure = this.#failures.get(name);
    if (failure && this.#options.now() - failure.atMs < RETRY_AFTER_MS) return failed(failure.fault);
    let found = await this.fetch(name, hash);
    if (!found.ok) {
      const stored = await kv.get(filePartName(name, hash));
      if (stored && (await hasHash(stored, hash))) found = ok(stored);
    }
    if (found.ok) await cache.put(filePartName(name, hash), found.value, null);
    else this.#failures.set(name, { atMs: this.#options.now(), fault: found.error });
    return found;
  }

  /** From the service itself. */
  async fetch(name: string, hash: string): Promise<FileReading> {
    const { service, count } = this.#options;
    const read = async (body: Bytes) => ((await hasHash(body, hash)) ? ok(body) : UNREADABLE);
    const call = {
      path: `/${name}?v=${hash}`,
      timeoutMs: FETCH_TIMEOUT_MS,
      maxBytes: FILE_MAX_BYTES,
      read,
      isPublic: true,
    };
    const file = await service!.ask(call);
    if (file.ok) return file;
    const { error } = file;
    const isAway = error.kind === 'unreachable' || (error.kind === 'refused' && error.status >= 500);
    if (error.kind !== 'unreachable') count('client_files_refused');
    return failed({ kind: isAway ? 'unreachable' : 'absent' });
  }
}

export function filePartName(name: string, hash: string): string {
  return `file/${name}/${hash}`;
}

/** `scripts/build-client.ts` names files by the first 64 bits of SHA-256. */
async function hasHash(bytes: Bytes, hash: string): Promise<boolean> {
  return (await sha256Hex(bytes)).slice(0, hash.length) === hash;
}
