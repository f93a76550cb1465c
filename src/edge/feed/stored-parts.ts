/**
 * The four parts a feed loads, and how each is kept outside the isolate: a small pointer, the sealed config, and the two
 * signed ruleset files, named by their content. Colo cache and KV store them alike. Neither is trusted: seal and
 * signatures are checked on every load.
 */
import type { Bytes } from '../../bytes/utf8.ts';
import { edgeConfig, edgeVersion } from '../../contract/edge/edge-responses.ts';
import type { EdgeVersion } from '../../contract/edge/edge-api.ts';
import { READS_QUERY } from '../../contract/edge/formats.ts';
import { parseJson } from '../../bytes/json.ts';
import { ok } from '../../result.ts';
import type { ConfigSeal } from './config-seal.ts';
import { ABSENT, type Asked, type SentConfig, UNREADABLE } from './upstream.ts';

/** `maxAgeSeconds: null` keeps it until it is replaced or evicted. */
export interface PartStore {
  get(name: string): Promise<Bytes | null>;
  /** True when it is stored. */
  put(name: string, bytes: Bytes, maxAgeSeconds: number | null): Promise<boolean>;
}

const encoder = new TextEncoder();

export const partName = {
  pointer: 'pointer',
  /** In the colo cache, where isolates of two releases may meet for a while. */
  cachedPointer: `pointer/${READS_QUERY}`,
  config: (version: string) => `config/${encodeURIComponent(version)}`,
  base: (hash: string) => `base/${hash}`,
  bots: (hash: string) => `bots/${hash}`,
  delta: (hash: string, version: number) => `delta/${hash}/${version}`,
};

export function encodePointer(version: EdgeVersion): Bytes {
  return encoder.encode(JSON.stringify(version)) as Bytes;
}

export function decodePointer(bytes: Bytes | null): Asked<EdgeVersion> {
  if (bytes === null) return ABSENT;
  const read = edgeVersion.safeParse(parseJson(bytes));
  return read.success ? ok(read.data) : UNREADABLE;
}

export function readConfig(json: Bytes): Asked<SentConfig> {
  const read = edgeConfig.safeParse(parseJson(json));
  return read.success ? ok({ config: read.data, json }) : UNREADABLE;
}

export async function openConfig(bytes: Bytes | null, seal: ConfigSeal): Promise<Asked<SentConfig>> {
  if (bytes === null) return ABSENT;
  const opened = await seal.open(bytes);
  return opened.ok ? readConfig(opened.value) : opened;
}
