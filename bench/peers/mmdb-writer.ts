/**
 * Writes a MaxMind DB file (version 2.0 of the format) that holds one small number for each network, for readers to be
 * compared with. A longer prefix wins inside a shorter one. IPv4 networks are in the
 * first 96 zero bits of the IPv6 tree, as in published files.
 */
import type { IpPrefix } from '../../src/address/ip.ts';

const NODES_AT_FIRST = 1 << 16;
const V4_DEPTH = 96;
/** In a record: nothing, a number of a value (with the flag), or the number of a node. */
const NOTHING = 0xffff_ffff;
const VALUE = 0x8000_0000;
const SEPARATOR_BYTES = 16;
const METADATA_MARK = Buffer.from('abcdef4d61784d696e642e636f6d', 'hex');
/** A value is a control byte and one byte. */
const VALUE_BYTES = 2;
const type = { text: 2, uint16: 5, uint32: 6, map: 7, uint64: 9, array: 11 } as const;

export interface MmdbNetwork {
  prefix: IpPrefix;
  /** 1 to 255. */
  value: number;
}

export function writeMmdb(networks: readonly MmdbNetwork[]): Buffer {
  const tree = treeOf(networks);
  const nodes = tree.length / 2;
  const largest = nodes + SEPARATOR_BYTES + 256 * VALUE_BYTES;
  const recordBytes = largest < 2 ** 24 ? 3 : 4;
  const records = Buffer.alloc(tree.length * recordBytes);
  tree.forEach((record, at) => {
    const pointer = (record & ~VALUE) * VALUE_BYTES + nodes + SEPARATOR_BYTES;
    const written = record === NOTHING ? nodes : record >= VALUE ? pointer : record;
    records.writeUIntBE(written, at * recordBytes, recordBytes);
  });
  const values = Buffer.from(Array.from({ length: 256 }, (_, value) => [(type.uint32 << 5) | 1, value]).flat());
  return Buffer.concat([
    records,
    Buffer.alloc(SEPARATOR_BYTES),
    values,
    METADATA_MARK,
    metadata(nodes, recordBytes * 8),
  ]);
}

/** Two records for each node. Shorter prefixes first: a longer one then divides the value it is inside of. */
function treeOf(networks: readonly MmdbNetwork[]): Uint32Array {
  let records = new Uint32Array(NODES_AT_FIRST * 2).fill(NOTHING);
  let nodes = 1;
  const divide = (holds: number): number => {
    if (nodes * 2 === records.length) {
      const wider = new Uint32Array(records.length * 2).fill(NOTHING);
      wider.set(records);
      records = wider;
    }
    records.fill(holds, nodes * 2, nodes * 2 + 2);
    return nodes++;
  };
  const depthOf = ({ family, prefixLength }: IpPrefix) => prefixLength + (family === 4 ? V4_DEPTH : 0);
  for (const { prefix, value } of networks.toSorted((a, b) => depthOf(a.prefix) - depthOf(b.prefix))) {
    const words = prefix.family === 4 ? [0, 0, 0, prefix.words[0]!] : prefix.words;
    const depth = depthOf(prefix);
    if (prefix.family === 6 && words.slice(0, V4_DEPTH / 32).every((word) => word === 0)) {
      throw new Error(
        'An IPv6 network with 96 zero bits has the place of IPv4 in this format. Remove it from the list.',
      );
    }
    let node = 0;
    for (let bit = 0; ; bit++) {
      const record = node * 2 + ((words[bit >>> 5]! >>> (31 - (bit & 31))) & 1);
      if (bit === depth - 1) {
        records[record] = VALUE | value;
        break;
      }
      const next = records[record]!;
      node = next >= VALUE ? divide(next) : next;
      records[record] = node;
    }
  }
  return records.subarray(0, nodes * 2);
}

function metadata(nodes: number, recordBits: number): Buffer {
  const fields: Record<string, Buffer> = {
    node_count: number(type.uint32, nodes, 4),
    record_size: number(type.uint16, recordBits, 2),
    ip_version: number(type.uint16, 6, 2),
    database_type: text('Bench'),
    languages: control(type.array, 0),
    binary_format_major_version: number(type.uint16, 2, 2),
    binary_format_minor_version: number(type.uint16, 0, 2),
    build_epoch: number(type.uint64, 0, 6),
    description: control(type.map, 0),
  };
  const pairs = Object.entries(fields).flatMap(([name, value]) => [text(name), value]);
  return Buffer.concat([control(type.map, Object.keys(fields).length), ...pairs]);
}

/** Types above 7 are in a byte of their own. Sizes are below 29, which needs no further byte. */
function control(of: number, size: number): Buffer {
  return of > 7 ? Buffer.from([size, of - 7]) : Buffer.from([(of << 5) | size]);
}

function text(value: string): Buffer {
  return Buffer.concat([control(type.text, value.length), Buffer.from(value, 'latin1')]);
}

function number(of: number, value: number, bytes: number): Buffer {
  const written = Buffer.alloc(bytes);
  written.writeUIntBE(value, 0, bytes);
  return Buffer.concat([control(of, bytes), written]);
}
