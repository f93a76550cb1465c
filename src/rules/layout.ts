/**
 * The format of a snapshot: a header, a table of sections, and the sections. Each is aligned to 8 bytes, so that a
 * loaded snapshot is used in place through typed-array views, without an object for each rule. It is little-endian, as
 * is every platform that runs Workers. Format 3; the magic names it.
 *
 *   magic "GHRULES3" (8) | total bytes u32 | sections u32 | 0 (16) |
 *   version f64 | created f64 | {offset u32, bytes u32} × sections | section…
 */
import { failed, ok, type Result } from '../result.ts';
import { rulesetFormats } from '../contract/edge/formats.ts';

export const DELTA_MAGIC = 'GHDELTA1';
const VERSION_AT = 32;
const CREATED_AT = 40;
const TABLE_AT = 48;
/** Offsets in the table are 32-bit numbers. */
const SNAPSHOT_MAX_BYTES = 0x7fff_ffff;

/** Name → bytes per element, in the order of the file. */
const sections = {
  instanceId: 1,
  v4Index: 4,
  v4Keys: 4,
  v4Meta: 1,
  v4Parents: 4,
  v6Index: 4,
  v6Keys: 4,
  v6Meta: 2,
  v6Parents: 4,
  asnKeys: 4,
  asnMeta: 1,
  countryKeys: 2,
  countryMeta: 1,
  ja4Index: 4,
  ja4Keys: 4,
  ja4Meta: 1,
  uaOffsets: 4,
  uaText: 1,
  uaMeta: 1,
  uaGramBits: 4,
  uaGrams: 4,
  uaEdges: 4,
  uaFails: 4,
  uaOutputs: 4,
  uaDepths: 2,
  uaLabels: 1,
  extraRules: 4,
  extraExpiries: 4,
  extraRollouts: 2,
  extraFlags: 1,
  lists: 1,
  ruleLists: 1,
} as const;

type SectionName = keyof typeof sections;
type SectionArray<Size> = Size extends 1 ? Uint8Array : Size extends 2 ? Uint16Array : Uint32Array;
export type Sections = { [Name in SectionName]: SectionArray<(typeof sections)[Name]> };
/** Elements of each section. */
type SectionLengths = { [Name in SectionName]: number };
const sectionNames = Object.keys(sections) as SectionName[];

const align8 = (bytes: number): number => (bytes + 7) & ~7;

export function writeMagic(out: Uint8Array, magic: string): void {
  for (let i = 0; i < magic.length; i++) out[i] = magic.charCodeAt(i);
}

export function hasMagic(bytes: Uint8Array, magic: string): boolean {
  for (let i = 0; i < magic.length; i++) if (bytes[i] !== magic.charCodeAt(i)) return false;
  return true;
}

/** Writes the total length into a file. It is a multiple of 8. */
export function writeLength(out: Uint8Array): void {
  new DataView(out.buffer, out.byteOffset).setUint32(8, out.byteLength, true);
}

/** Bytes of a file, aligned to 8, and the same as words. */
interface Framed {
  bytes: Uint8Array;
  words: Uint32Array;
}

/**
 * The aligned bytes (copied when they are not aligned) if magic and length are right; otherwise the reason. The magic is
 * checked first, so that the reason distinguishes a foreign file from a damaged one.
 */
export function openFramed(bytes: Uint8Array, magic: string): Result<Framed, string> {
  if (bytes.byteLength < TABLE_AT || !hasMagic(bytes, magic)) return failed('magic');
  if (bytes.byteLength % 8 !== 0) return failed('size');
  const aligned = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
  const words = new Uint32Array(aligned.buffer, aligned.byteOffset, aligned.byteLength / 4);
  return words[2] === bytes.byteLength ? ok({ bytes: aligned, words }) : failed('size');
}

/** The bytes of a snapshot to be written, and its sections: views of these bytes, for the caller to fill. */
interface BlankSnapshot {
  bytes: Uint8Array;
  sections: Sections;
}

/** Behind the bytes, their buffer has `roomAfter` more. `sealSnapshot` completes the file. */
export function blankSnapshot(lengths: SectionLengths, roomAfter: number): BlankSnapshot {
  let total = align8(TABLE_AT + sectionNames.length * 8);
  const table = sectionNames.map((name) => {
    const place = { name, at: total, bytes: lengths[name] * sections[name] };
    total += align8(place.bytes);
    return place;
  });
  if (total > SNAPSHOT_MAX_BYTES) throw new RangeError('ruleset too large for one snapshot');
  const bytes = new Uint8Array(new ArrayBuffer(total + roomAfter), 0, total);
  const header = new DataView(bytes.buffer);
  header.setUint32(12, sectionNames.length, true);
  const views: Partial<Record<SectionName, Sections[SectionName]>> = {};
  table.forEach((place, i) => {
    header.setUint32(TABLE_AT + i * 8, place.at, true);
    header.setUint32(TABLE_AT + i * 8 + 4, place.bytes, true);
    views[place.name] = sectionView(place.name, bytes.buffer, place.at, place.bytes);
  });
  return { bytes, sections: views as Sections };
}

export function sealSnapshot(bytes: Uint8Array, format: string, version: number, createdAtMs: number): void {
  writeMagic(bytes, format);
  const header = new DataView(bytes.buffer, bytes.byteOffset);
  header.setFloat64(VERSION_AT, version, true);
  header.setFloat64(CREATED_AT, createdAtMs, true);
  writeLength(bytes);
}

function sectionView(name: SectionName, buffer: ArrayBufferLike, at: number, bytes: number): Sections[SectionName] {
  const size = sections[name];
  if (size === 1) return new Uint8Array(buffer, at, bytes);
  return size === 2 ? new Uint16Array(buffer, at, bytes / 2) : new Uint32Array(buffer, at, bytes / 4);
}

/** The format that a file says it has, if this release reads it. */
function magicOf(bytes: Uint8Array): string {
  return rulesetFormats.find((format) => hasMagic(bytes, format)) ?? rulesetFormats[0];
}

interface SnapshotParts {
  sections: Sections;
  version: number;
  createdAtMs: number;
}

/** Views of the file's own bytes. Every offset and length is checked against the file. */
export function readSnapshot(input: Uint8Array): Result<SnapshotParts, string> {
  const opened = openFramed(input, magicOf(input));
  if (!opened.ok) return opened;
  const { bytes, words } = opened.value;
  const tableEnd = TABLE_AT + sectionNames.length * 8;
  if (words[3] !== sectionNames.length || bytes.byteLength < tableEnd) return failed('sections');
  const views: Partial<Record<SectionName, Sections[SectionName]>> = {};
  for (const [i, name] of sectionNames.entries()) {
    const offset = words[TABLE_AT / 4 + i * 2] ?? 0;
    const length = words[TABLE_AT / 4 + i * 2 + 1] ?? 0;
    if (offset % 8 !== 0 || offset < tableEnd || length % sections[name] !== 0 || offset + length > bytes.byteLength) {
      return failed(name);
    }
    views[name] = sectionView(name, bytes.buffer, bytes.byteOffset + offset, length);
  }
  const header = new DataView(bytes.buffer, bytes.byteOffset, TABLE_AT);
  const version = header.getFloat64(VERSION_AT, true);
  const createdAtMs = header.getFloat64(CREATED_AT, true);
  if (!Number.isSafeInteger(version) || version < 0 || !Number.isFinite(createdAtMs)) {
    return failed('version');
  }
  return ok({ sections: views as Sections, version, createdAtMs });
}
