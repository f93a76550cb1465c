/**
 * The changes since a base: rules that are set (a small snapshot of its own) and rules that are removed. It names the
 * base by hash, so it cannot be applied to another base. It applies as a whole, and a rule that it sets replaces the
 * base's rule with the same type and value. Its table of lists replaces the base's.
 *
 *   magic "GHDELTA1" (8) | total bytes u32 | removals u32 | 0 (16) | base version f64 |
 *   base hash (32) | bytes of upserts u32 | 0 u32 | upserts: snapshot | removals: {type u8, bytes u16, value}… | 0…
 */
import { failed, ok, type Result } from '../result.ts';
import { decodeHex, encodeHex } from '../bytes/hex.ts';
import { type EdgeRuleType, edgeRuleTypes } from '../contract/vocabulary.ts';
import { RulesetCompiler } from './compiler.ts';
import { DELTA_MAGIC, openFramed, writeLength, writeMagic } from './layout.ts';
import type { ListLayer } from './list-layers.ts';
import { type Snapshot, openSnapshot } from './snapshot.ts';
import type { EdgeRule } from './types.ts';

interface DeltaInput {
  instanceId: string;
  /** Hex SHA-256 of the base's payload. */
  baseHash: string;
  baseVersion: number;
  /** The version of the ruleset after the delta is applied. */
  version: number;
  upserts: Iterable<EdgeRule>;
  /** Canonical values. Rules that the base does not have are ignored. */
  removals: Iterable<{ type: EdgeRuleType; value: string }>;
  /** Every list that has an effect at `version`. */
  lists?: readonly ListLayer[];
  /** Epoch milliseconds. */
  createdAtMs?: number;
  /** That of the base, if not the newest. */
  format?: string;
}

export interface Delta {
  instanceId: string;
  baseHash: string;
  baseVersion: number;
  version: number;
  upserts: Snapshot;
  removals: readonly { type: EdgeRuleType; value: string }[];
}

const BASE_VERSION_AT = 32;
const BASE_HASH_AT = 40;
const BASE_HASH_BYTES = 32;
const UPSERT_BYTES_AT = 72;
const UPSERTS_AT = 80;
const REMOVAL_HEADER_BYTES = 3;

export function encodeDelta(input: DeltaInput): Uint8Array {
  const { instanceId, version, createdAtMs = 0, lists = [], format } = input;
  const baseHash = decodeHex(input.baseHash);
  if (baseHash?.length !== BASE_HASH_BYTES) throw new TypeError('baseHash is not a hex SHA-256');
  const compiler = new RulesetCompiler({ instanceId, version, createdAtMs, lists });
  for (const rule of input.upserts) compiler.add(rule);
  const upserts = compiler.finish(0, format);
  const encoder = new TextEncoder();
  const removals = Array.from(input.removals, ({ type, value }) => ({ type, bytes: encoder.encode(value) }));
  const removalBytes = removals.reduce((sum, { bytes }) => sum + REMOVAL_HEADER_BYTES + bytes.length, 0);

  const out = new Uint8Array((UPSERTS_AT + upserts.length + removalBytes + 7) & ~7);
  const view = new DataView(out.buffer);
  writeMagic(out, DELTA_MAGIC);
  view.setUint32(12, removals.length, true);
  view.setFloat64(BASE_VERSION_AT, input.baseVersion, true);
  out.set(baseHash, BASE_HASH_AT);
  view.setUint32(UPSERT_BYTES_AT, upserts.length, true);
  out.set(upserts, UPSERTS_AT);
  let at = UPSERTS_AT + upserts.length;
  for (const { type, bytes } of removals) {
    out[at] = edgeRuleTypes.indexOf(type);
    view.setUint16(at + 1, bytes.length, true);
    out.set(bytes, at + REMOVAL_HEADER_BYTES);
    at += REMOVAL_HEADER_BYTES + bytes.length;
  }
  writeLength(out);
  return out;
}

/** Never throws. The caller has checked the signature of the bytes. */
export function openDelta(input: Uint8Array): Result<Delta, string> {
  const opened = openFramed(input, DELTA_MAGIC);
  if (!opened.ok) return opened;
  const { bytes } = opened.value;
  if (bytes.byteLength < UPSERTS_AT) return failed('size');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const upsertBytes = view.getUint32(UPSERT_BYTES_AT, true);
  if (UPSERTS_AT + upsertBytes > bytes.byteLength) return failed('upserts');
  const upserts = openSnapshot(bytes.subarray(UPSERTS_AT, UPSERTS_AT + upsertBytes));
  if (!upserts.ok) return upserts;
  const removals = readRemovals(bytes, UPSERTS_AT + upsertBytes, view.getUint32(12, true));
  if (!removals) return failed('removals');
  const baseVersion = view.getFloat64(BASE_VERSION_AT, true);
  if (!Number.isSafeInteger(baseVersion) || baseVersion < 0) return failed('version');
  const baseHash = encodeHex(bytes.subarray(BASE_HASH_AT, BASE_HASH_AT + BASE_HASH_BYTES));
  const { instanceId, version } = upserts.value;
  return ok({ instanceId, baseHash, baseVersion, version, upserts: upserts.value, removals });
}

function readRemovals(bytes: Uint8Array, from: number, count: number): Delta['removals'] | null {
  const decoder = new TextDecoder();
  const removals: { type: EdgeRuleType; value: string }[] = [];
  let at = from;
  for (let i = 0; i < count; i++) {
    const type = edgeRuleTypes[bytes[at] ?? edgeRuleTypes.length];
    const end = at + REMOVAL_HEADER_BYTES + (bytes[at + 1] ?? 0) + (bytes[at + 2] ?? 0) * 256;
    if (type === undefined || end > bytes.byteLength) return null;
    removals.push({ type, value: decoder.decode(bytes.subarray(at + REMOVAL_HEADER_BYTES, end)) });
    at = end;
  }
  return removals;
}
