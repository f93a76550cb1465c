/**
 * KV as a part store: the last known good config and ruleset, for outages of the service only. Read when an isolate starts
 * while the service is unreachable, written by the scheduled run and only on change. KV that throws, is missing or holds
 * garbage is a miss.
 */
import type { Bytes } from '../../bytes/utf8.ts';
import type { Count } from './upstream.ts';
import type { PartStore } from './stored-parts.ts';

export class KvStore implements PartStore {
  readonly #kv: KVNamespace | null;
  readonly #scope: string;
  readonly #count: Count;

  constructor(kv: KVNamespace | null, scope: string, count: Count) {
    this.#kv = kv;
    this.#scope = scope;
    this.#count = count;
  }

  async get(name: string): Promise<Bytes | null> {
    if (!this.#kv) return null;
    try {
      const found = await this.#kv.get(this.#key(name), 'arrayBuffer');
      return found ? new Uint8Array(found) : null;
    } catch {
      this.#count('kv_failures{operation="get"}');
      return null;
    }
  }

  async put(name: string, bytes: Bytes): Promise<boolean> {
    if (!this.#kv) return false;
    try {
      await this.#kv.put(this.#key(name), bytes);
      return true;
    } catch {
      this.#count('kv_failures{operation="put"}');
      return false;
    }
  }

  async delete(name: string): Promise<void> {
    try {
      await this.#kv?.delete(this.#key(name));
    } catch {
      this.#count('kv_failures{operation="delete"}');
    }
  }

  #key(name: string): string {
    return `gate/${this.#scope}/${name}`;
  }
}
