/** The lists that `npm run bench -- lookup` compares peers with: their shape, and that the peers get the same answers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { Reader } from 'maxmind';
import { afterAll, expect, test } from 'vitest';
import { engines, files } from '../../bench/peers/engines.ts';
import { writeMmdb } from '../../bench/peers/mmdb-writer.ts';
import {
  addressesFor,
  generateNetworks,
  type Network,
  overlap,
  readNetworks,
  rightAnswers,
} from '../../bench/peers/networks.ts';
import { parseCidr, parseIp } from '../../src/address/ip.ts';
import { expectRows } from '../support/rows.ts';

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-networks-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const generated = generateNetworks(20_000, 7);

test('a longer list of the same seed begins with the shorter one and repeats no network', () => {
  expect(generateNetworks(500, 7)).toEqual(generated.slice(0, 500));
  expect(new Set(generated.map(({ text }) => text)).size).toBe(generated.length);
});

test('prefix lengths have the shares of the public BGP tables', () => {
  const shareOf = (family: 4 | 6, length: number) => {
    const all = generated.filter(({ prefix }) => prefix.family === family);
    return all.filter(({ prefix }) => prefix.prefixLength === length).length / all.length;
  };
  expect(generated.filter(({ prefix }) => prefix.family === 6).length / generated.length).toBeCloseTo(0.2, 2);
  expect(shareOf(4, 24)).toBeCloseTo(0.61, 1);
  expect(shareOf(4, 22)).toBeCloseTo(0.11, 1);
  expect(shareOf(6, 48)).toBeCloseTo(0.42, 1);
});

test('every second address lies inside a network', () => {
  const networks = generated.slice(0, 1000);
  const answers = rightAnswers(networks, addressesFor(networks, 4000, 8));
  expect(answers.filter((answer, at) => at % 2 === 0 && answer === 0)).toHaveLength(0);
  expect(answers.filter((answer) => answer === 0).length).toBeGreaterThan(1000);
});

test('a file has one network or address a line, and a line that is neither is named', () => {
  const read = readNetworks('# a comment\n192.0.2.7/24 x\r\n192.0.2.0/24\n\n2001:db8::1\n198.51.100.7, y\n', 1);
  expect(read.map(({ text }) => text)).toEqual(['192.0.2.0/24', '2001:db8::1/128', '198.51.100.7/32']);
  expect(() => readNetworks('192.0.2.0/24\n192.0.2/24\n', 1)).toThrow('Line 2 is not a network: "192.0.2/24"');
});

test('two networks overlap when one of them is in the other', () =>
  expectRows(
    [
      ['192.0.2.0/24', '192.0.2.128/25', true],
      ['192.0.2.128/25', '192.0.0.0/16', true],
      ['192.0.2.0/25', '192.0.2.128/25', false],
      ['::/0', '192.0.2.0/24', false],
    ],
    ([a, b, expected]) => {
      expect(overlap(parseCidr(a)!, parseCidr(b)!)).toBe(expected);
    },
  ));

/** Few bits vary, so that networks are inside one another and addresses are at their edges. */
const crowded = fc
  .array(
    fc.record({
      isV6: fc.boolean(),
      bits: fc.integer({ min: 0, max: 255 }),
      length: fc.integer({ min: 0, max: 32 }),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((drawn) => {
    const texts = drawn.map(({ isV6, bits, length }) => {
      const low = bits & 15;
      return isV6 ? `2001:db8:${bits >> 4}::${low}/${96 + length}` : `10.${bits >> 4}.0.${low}/${length}`;
    });
    return readNetworks(texts.join('\n'), drawn.length);
  });

/** An address on both sides of every edge. */
function edgesOf(networks: readonly Network[]): string[] {
  const near = networks.flatMap(({ prefix, text }) => {
    const address = text.slice(0, text.indexOf('/'));
    const last = prefix.family === 4 ? address.replace(/\d+$/, '255') : `${address.split('::')[0]}::ffff`;
    return [address, last];
  });
  return [...new Set(near), '10.0.0.1', '2001:db8::1', '203.0.113.1'].filter((text) => parseIp(text) !== null);
}

test('the reader of maxmind finds the longest prefix in a file of the writer', () => {
  fc.assert(
    fc.property(crowded, (networks) => {
      const addresses = edgesOf(networks);
      const reader = new Reader<never>(writeMmdb(networks.map(({ prefix, answer }) => ({ prefix, value: answer }))));
      expect(addresses.map((address) => reader.get(address) ?? 0)).toEqual([...rightAnswers(networks, addresses)]);
    }),
  );
});

test('the writer grows with the list', () => {
  const addresses = addressesFor(generated, 2000, 9);
  const reader = new Reader<never>(writeMmdb(generated.map(({ prefix, answer }) => ({ prefix, value: answer }))));
  expect(addresses.map((address) => reader.get(address) ?? 0)).toEqual([...rightAnswers(generated, addresses)]);
});

test('the writer refuses an IPv6 network that has the place of IPv4', () => {
  const [network] = readNetworks('::/8', 1);
  expect(() => writeMmdb([{ prefix: network!.prefix, value: 1 }])).toThrow('the place of IPv4');
});

test.each(['text', 'ipaddrParsed', 'ipaddrEach'] as const)('the engine %s finds the longest prefix', (name) => {
  const networks = generated.slice(0, 300);
  const addresses = addressesFor(networks, 300, 10);
  writeFileSync(join(folder, files.text), networks.map(({ text, answer }) => `${text} ${answer}\n`).join(''));
  const lookUp = engines[name].load(folder);
  expect(addresses.map((address) => lookUp(address))).toEqual([...rightAnswers(networks, addresses)]);
});
