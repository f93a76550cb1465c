/**
 * The browser's files and the pages' texts that this Worker does not carry: fetched from the service
 * under the content hash that is compiled in here, kept in the colo cache, and in KV by the scheduled
 * run. Whatever the place, the body's hash is checked before it is used: a service of another release
 * has another file, and that one is not served under this release's name.
 */
import { assetHashes } from '../../widget/bundle.generated.ts';
import type { EmbeddedFile } from '../isolate/edge-mode.ts';
import { sha256Hex } from '../../bytes/sha256-hex.ts';
import { readBounded } from '../submission/submission.ts';
import type { ServiceClient } from './service-client.ts';
import type { Bytes, PartStore } from './stored-parts.ts';
import type { Count } from './upstream.ts';

/** A file is some ten kilobytes; ten times that is none of ours. */
const FILE_MAX_BYTES = 256 * 1024;
const FETCH_TIMEOUT_MS = 5000;
/** A file that is not to be had is not asked for again at once, by whoever wants it. */
const RETRY_AFTER_MS = 5000;

/** `absent`: this release's file is nowhere. `unreachable`: nor does the service answer. */
export type FileReading = Bytes | 'absent' | 'unreachable';

export interface ClientFilesOptions {
  embedded: Readonly<Record<string, EmbeddedFile>>;
  /** `null`: only what is embedded (another service has none of these). */
  service: Pick<ServiceClient, 'call'> | null;
  cache: PartStore;
  kv: PartStore;
  count: Count;
  now(): number;
}

export class ClientFiles {
  readonly #options: ClientFilesOptions;
  readonly #failures = new Map<string, { atMs: number; why: 'absent' | 'unreachable' }>();

  constructor(options: ClientFilesOptions) {
    this.#options = options;
  }

  embedded(name: string): EmbeddedFile | null {
    const { embedded } = this.#options;
    return Object.hasOwn(embedded, name) ? (embedded[name] ?? null) : null;
  }

  /** Files to be had from the service: name and hash. */
  get fetched(): readonly (readonly [name: string, hash: string])[] {
    if (this.#options.service === null) return [];
    return Object.entries(assetHashes).filter(([name]) => this.embedded(name) === null);
  }

  /** From the nearest place that has it. */
  async read(name: string): Promise<FileReading> {
    const { cache, kv } = this.#options;
    const hash = this.fetched.find(([known]) => known === name)?.[1];
    if (hash === undefined) return 'absent';
    const cached = await cache.get(fileName(name, hash));
    if (cached && (await hasHash(cached, hash))) return cached;
    const failure = this.#failures.get(name);
    if (failure && this.#options.now() - failure.atMs < RETRY_AFTER_MS) return failure.why;
    let found = await this.fetch(name, hash);
    if (typeof found === 'string') {
      const stored = await kv.get(fileName(name, hash));
      if (stored && (await hasHash(stored, hash))) found = stored;
    }
    if (typeof found === 'string') this.#failures.set(name, { atMs: this.#options.now(), why: found });
    else await cache.put(fileName(name, hash), found, null);
    return found;
  }

  /** From the service itself. */
  async fetch(name: string, hash: string): Promise<FileReading> {
    const { service, count } = this.#options;
    try {
      const answer = await service!.call(`/${name}?v=${hash}`, FETCH_TIMEOUT_MS);
      if (answer.status === 200 && answer.body) {
        const bytes = await readBounded(answer.body, FILE_MAX_BYTES);
        if (typeof bytes !== 'string' && (await hasHash(bytes, hash))) return bytes;
      } else {
        await answer.body?.cancel();
      }
      count('client_files_refused');
      return answer.status < 500 ? 'absent' : 'unreachable';
    } catch {
      count('service_failures{kind="unreachable"}');
      return 'unreachable';
    }
  }
}

export function fileName(name: string, hash: string): string {
  return `file/${name}/${hash}`;
}

/** As `scripts/build-client.ts` names them: the first 64 bits of SHA-256. */
async function hasHash(bytes: Bytes, hash: string): Promise<boolean> {
  return (await sha256Hex(bytes)).slice(0, hash.length) === hash;
}
