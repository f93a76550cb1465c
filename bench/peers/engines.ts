/**
 * Ways to look an address up in a list of networks, each made from the files of one folder. All take the address as text
 * and return an answer (`networks.ts`), so that each pays for its own parsing.
 */
import { readFileSync } from 'node:fs';
import { BlockList } from 'node:net';
import { join } from 'node:path';
import ipaddr from 'ipaddr.js';
import { open } from 'maxmind';
import { parseIpInto } from '../../src/address/ip.ts';
import { decisions } from '../../src/contract/vocabulary.ts';
import { Hits } from '../../src/rules/hits.ts';
import { createRuleset } from '../../src/rules/ruleset.ts';
import { openSignedRuleset } from '../../src/rules/signing.ts';
import { openSnapshot, type Snapshot } from '../../src/rules/snapshot.ts';
import { compileRules } from '../rules/workload.ts';
import { type Network, rulesOf } from './networks.ts';

export type LookUp = (address: string) => number;

/** `networks.txt` has a network and its answer on each line. The ruleset and the mmdb are its compiled forms. */
export const files = {
  text: 'networks.txt',
  ruleset: 'ruleset.bin',
  publicKey: 'public-key.bin',
  mmdb: 'networks.mmdb',
  addresses: 'addresses.txt',
} as const;

export interface EngineKind {
  label: string;
  /** It only says whether an address is in any network. */
  isYesOrNo?: boolean;
  /** It tries one network after the other. Larger lists take too much time and memory. */
  networksMax?: number;
  load(folder: string): LookUp | Promise<LookUp>;
}

const LINEAR_MAX = 100_000;
const NOW_SECONDS = 1_800_000_000;

export const engines = {
  table: { label: 'Gatehouse, address table', load: async (folder) => tableOf(await signedSnapshot(folder)) },
  text: {
    label: 'Gatehouse, from text',
    load: (folder) => tableOf(opened(compileRules(rulesOf(networksIn(folder))))),
  },
  decision: {
    label: 'Gatehouse, whole decision',
    async load(folder) {
      const ruleset = createRuleset(await signedSnapshot(folder), null);
      const others = { asn: null, countryCode: null, ja4: null, userAgent: '', rolloutBucket: 0 };
      return (ip) => {
        const { network } = ruleset.match({ ip, ...others }, NOW_SECONDS);
        return network ? decisions.indexOf(network.verdict) + 1 : 0;
      };
    },
  },
  maxmind: {
    label: 'maxmind',
    async load(folder) {
      const reader = await open<never>(join(folder, files.mmdb));
      return (address) => reader.get(address) ?? 0;
    },
  },
  blockList: {
    label: 'net.BlockList',
    isYesOrNo: true,
    load(folder) {
      const list = new BlockList();
      for (const { text } of networksIn(folder)) {
        const [address = '', length] = text.split('/');
        list.addSubnet(address, Number(length), address.includes(':') ? 'ipv6' : 'ipv4');
      }
      return (address) => (list.check(address, address.includes(':') ? 'ipv6' : 'ipv4') ? 1 : 0);
    },
  },
  ipaddrParsed: {
    label: 'ipaddr.js, ranges parsed once',
    networksMax: LINEAR_MAX,
    load(folder) {
      const ranges = longestFirst(folder).map(({ text, answer }) => ({ range: ipaddr.parseCIDR(text), answer }));
      return (visitor) => {
        const address = ipaddr.parse(visitor);
        for (const { range, answer } of ranges) {
          if (range[0].kind() === address.kind() && address.match(range)) return answer;
        }
        return 0;
      };
    },
  },
  ipaddrEach: {
    label: 'ipaddr.js, ranges parsed each time',
    networksMax: LINEAR_MAX,
    load(folder) {
      const ranges = longestFirst(folder);
      return (visitor) => {
        const address = ipaddr.parse(visitor);
        for (const { text, answer } of ranges) {
          try {
            if (address.match(ipaddr.parseCIDR(text))) return answer;
          } catch {
            // Of the other family.
          }
        }
        return 0;
      };
    },
  },
} satisfies Record<string, EngineKind>;

export type EngineName = keyof typeof engines;

function tableOf(snapshot: Snapshot): LookUp {
  const words = new Uint32Array(4);
  const hits = new Hits();
  return (text) => {
    hits.clear();
    const family = parseIpInto(text, words);
    if (family !== 0) snapshot.findAddress(family, words, hits);
    // The first hit is the longest prefix.
    return hits.count === 0 ? 0 : snapshot.code(hits.refs[0]! >>> 1) + 1;
  };
}

/** As an edge opens a file: its hash and signature are checked. */
async function signedSnapshot(folder: string): Promise<Snapshot> {
  const key = await crypto.subtle.importKey('raw', readFileSync(join(folder, files.publicKey)), 'Ed25519', false, [
    'verify',
  ]);
  const checked = await openSignedRuleset(readFileSync(join(folder, files.ruleset)), new Map([['bench', key]]));
  if (!checked.ok) throw new Error(checked.error);
  return opened(checked.value.payload);
}

function opened(bytes: Uint8Array): Snapshot {
  const snapshot = openSnapshot(bytes);
  if (!snapshot.ok) throw new Error(snapshot.error);
  return snapshot.value;
}

/** Each line is a network in its canonical form and its answer. */
function networksIn(folder: string): Pick<Network, 'text' | 'answer'>[] {
  const lines = readFileSync(join(folder, files.text), 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => {
    const [text = '', answer] = line.split(' ');
    return { text, answer: Number(answer) as Network['answer'] };
  });
}

/** A list that is tried in order has the right verdict first. */
function longestFirst(folder: string): Pick<Network, 'text' | 'answer'>[] {
  const lengthOf = ({ text }: { text: string }) => Number(text.slice(text.indexOf('/') + 1));
  return networksIn(folder).toSorted((a, b) => lengthOf(b) - lengthOf(a));
}
