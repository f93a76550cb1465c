/** What the tests of the feed load: signed files, and a cache and a KV namespace in memory. */
import type { Bytes } from '../../../src/bytes/utf8.ts';
import { encodeBotTable } from '../../../src/bots/encode-bot-table.ts';
import type { EdgeConfig } from '../../../src/contract/edge/edge-responses.ts';
import { deriveKeys } from '../../../src/edge/feed/management-api.ts';
import type { KvStore } from '../../../src/edge/feed/part-stores.ts';
import type { PartStore } from '../../../src/edge/feed/stored-parts.ts';
import { RulesetCompiler } from '../../../src/rules/compiler.ts';
import { signRulesetFile } from '../../../src/rules/signing.ts';
import { edgeConfigOf } from './edge-fixture.ts';

export const keys = await deriveKeys('credential', 'inst_1');
export const config = (changes: Partial<EdgeConfig> = {}) =>
  edgeConfigOf({}, { rulesetKeys: [{ kid: keys.rulesetKid, publicKey: keys.rulesetPublicKey }], ...changes });
export async function baseOf(version: number, blockedAgent: string, instanceId = 'inst_1', credential = 'credential') {
  const compiler = new RulesetCompiler({ instanceId, version, createdAtMs: 0 });
  compiler.add({ type: 'userAgent', value: blockedAgent, verdict: 'block' });
  const { rulesetKey: privateKey } = await deriveKeys(credential, 'inst_1');
  const { file, hash } = await signRulesetFile(compiler.finish(), { kid: keys.rulesetKid, privateKey });
  return { file: new Uint8Array(file), hash, version };
}

export async function botsOf(name: string, credential = 'credential') {
  const bots = [{ id: name, behaviours: ['search' as const], patterns: [name], tokens: [] }];
  const table = encodeBotTable({ builtAtMs: 7, bots, networks: new Map() });
  const { rulesetKey: privateKey } = await deriveKeys(credential, 'inst_1');
  const { file, hash } = await signRulesetFile(table, { kid: keys.rulesetKid, privateKey });
  return { file: new Uint8Array(file), hash };
}

export class MemoryStore implements PartStore {
  parts = new Map<string, Bytes>();
  reads = 0;
  get(name: string) {
    this.reads++;
    return Promise.resolve(this.parts.get(name) ?? null);
  }
  put(name: string, bytes: Bytes) {
    this.parts.set(name, bytes);
    return Promise.resolve(true);
  }
}

/** A KV namespace over a map, which can fail on demand. */
export function namespace(parts: Map<string, Bytes>, trouble: { throws: boolean; garbage: boolean }) {
  return {
    get: async (name: string) => {
      if (trouble.throws) throw new Error('KV GET failed: 429');
      const found = parts.get(name);
      return found ? (trouble.garbage ? new Uint8Array(8).buffer : found.slice().buffer) : null;
    },
    put: async (name: string, bytes: Bytes) => {
      if (trouble.throws) throw new Error('KV PUT failed: 429');
      parts.set(name, bytes);
    },
    delete: async (name: string) => void parts.delete(name),
  } as unknown as ConstructorParameters<typeof KvStore>[0];
}
