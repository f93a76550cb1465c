/**
 * `npm run bench -- rules [COUNT…]`: the rule engine at 1,000, 10,000, 100,000 and 1,000,000 rules. Every time is the
 * best of several rounds, because a busy machine can only add to it. Every row has its ratio to a peer or a floor of the
 * same run: a linear scan with big integers as peers do it, a `Map` lookup of the address's text, reading the header's
 * characters, and one SHA-256 of the file. With 1,000,000 rules it ends with the targets, which are for an idle machine.
 */
import { execFileSync } from 'node:child_process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { encodeDelta, openDelta } from '../src/rules/delta.ts';
import { Hits } from '../src/rules/hits.ts';
import { parseIpInto } from '../src/address/ip.ts';
import { createRuleset } from '../src/rules/ruleset.ts';
import { type Snapshot, openSnapshot } from '../src/rules/snapshot.ts';
import { openSignedRuleset, signRulesetFile } from '../src/rules/signing.ts';
import type { EdgeRule, MatchSignals } from '../src/rules/types.ts';
import type { CompileMemory } from './rules/compile-memory.ts';
import { linearScan } from './rules/linear-scan.ts';
import {
  arriving,
  compileRules,
  memoryWorkloads,
  mixedRules,
  prefixRules,
  randomWords,
  requests,
  userAgentRules,
  withRepeatedHeaders,
} from './rules/workload.ts';

const DEFAULT_COUNTS = [1000, 10_000, 100_000, 1_000_000];
const ROUNDS = 15;
const REQUESTS = 8192;
const SEED = 20_261;
const MEGABYTE = 1e6;
/** What an instance may have (`object/write-rules.ts`). */
const RULES_MAX = 1_250_000;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Nanoseconds per item in the best round. */
function best(items: number, round: () => void, rounds = ROUNDS): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < rounds; i++) {
    const startedAt = performance.now();
    round();
    least = Math.min(least, performance.now() - startedAt);
  }
  return (least * 1e6) / items;
}

function opened(bytes: Uint8Array): Snapshot {
  const result = openSnapshot(bytes);
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

const milliseconds = (value: number): string => `${value.toFixed(1)} ms`;
const nanoseconds = (value: number): string => (value < 10 ? value.toFixed(2) : value.toFixed(0));
const times = (value: number): string => `${value < 10 ? value.toFixed(2) : value.toFixed(0)}×`;

function table(title: string, rows: Record<string, string>[]): void {
  const columns = Object.keys(rows[0] ?? {});
  const widths = columns.map((name) => Math.max(name.length, ...rows.map((row) => (row[name] ?? '').length)));
  const line = (cells: readonly string[]): string => cells.map((cell, i) => cell.padStart(widths[i] ?? 0)).join('  ');
  const lines = [title, line(columns), ...rows.map((row) => line(columns.map((name) => row[name] ?? '')))];
  process.stdout.write(`${lines.join('\n')}\n\n`);
}

interface Percentiles {
  p50: number;
  p99: number;
}

/**
 * Times each match alone and subtracts the cost of reading the clock. The request's facts were just read, as at an edge,
 * which has parsed the headers a moment before. The rules' memory is as cold as the round leaves it.
 */
function percentiles(given: readonly MatchSignals[], act: (signals: MatchSignals) => void): Percentiles {
  const result = { p50: Number.POSITIVE_INFINITY, p99: Number.POSITIVE_INFINITY };
  const samples = new Float64Array(given.length);
  const at = (share: number): number => (samples[Math.floor(samples.length * share)] ?? 0) * 1e6;
  for (let i = 0; i < samples.length; i++) {
    const startedAt = performance.now();
    samples[i] = performance.now() - startedAt;
  }
  samples.sort();
  const clock = at(0.5);
  let touched = 0;
  for (let round = 0; round < ROUNDS; round++) {
    arriving(given).forEach((signals, i) => {
      touched += signals.userAgent.charCodeAt(signals.userAgent.length - 1) + (signals.ip?.charCodeAt(0) ?? 0);
      touched += (signals.ja4?.charCodeAt(0) ?? 0) + (signals.parsedIp?.words[0] ?? 0);
      const startedAt = performance.now();
      act(signals);
      samples[i] = performance.now() - startedAt;
    });
    samples.sort();
    result.p50 = Math.min(result.p50, at(0.5) - clock);
    result.p99 = Math.min(result.p99, at(0.99) - clock);
  }
  if (touched === 0) throw new Error('The requests are empty');
  return result;
}

/** A value that should be at most this, on an idle machine, with `AIMED_COUNT` rules. */
interface Aim {
  what: string;
  value: number;
  most: number;
}

const AIMED_COUNT = 1_000_000;
const NOW_SECONDS = 1_800_000_000;

/** Milliseconds of the best round until one changed rule is enforced: its delta is made, signed, checked and applied. */
async function oneChange(base: Snapshot, privateKey: CryptoKey, keys: ReadonlyMap<string, CryptoKey>): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  const upserts: EdgeRule[] = [{ type: 'ip', value: '192.0.2.7', verdict: 'block' }];
  const visitor = { ip: '192.0.2.7', asn: null, countryCode: null, ja4: null, userAgent: '', rolloutBucket: 0 };
  const header = { instanceId: 'bench', baseHash: '0'.repeat(64), baseVersion: 1, version: 2 };
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now();
    const { file } = await signRulesetFile(encodeDelta({ ...header, upserts, removals: [] }), {
      kid: 'bench',
      privateKey,
    });
    const checked = await openSignedRuleset(file, keys);
    const delta = checked.ok ? openDelta(checked.value.payload) : checked;
    if (!delta.ok) throw new Error(delta.error);
    const { network } = createRuleset(base, delta.value).match(visitor, NOW_SECONDS);
    if (network?.id !== 'ip:192.0.2.7') throw new Error('The changed rule does not match');
    least = Math.min(least, performance.now() - startedAt);
  }
  return least;
}

interface Mixed {
  load: Record<string, string>;
  match: Record<string, string>;
  aims: readonly Aim[];
}

async function mixed(count: number): Promise<Mixed> {
  let rules: EdgeRule[] = [...mixedRules(count, SEED)];
  const visits = requests(REQUESTS, rules, SEED + 1);
  const [firstVisit] = visits;
  if (!firstVisit) throw new Error('There are no requests');
  let payload = new Uint8Array();
  const compileMs = best(1e6, () => void (payload = Uint8Array.from(compileRules(rules))), count > 100_000 ? 2 : 5);
  rules = [];

  const { privateKey, publicKey } = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  const { file } = await signRulesetFile(payload, { kid: 'bench', privateKey });
  const keys = new Map([['bench', publicKey]]);
  let loadMs = Number.POSITIVE_INFINITY;
  let hashMs = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now();
    const checked = await openSignedRuleset(file, keys);
    if (!checked.ok) throw new Error(checked.error);
    const snapshot = openSnapshot(checked.value.payload);
    if (!snapshot.ok) throw new Error(snapshot.error);
    createRuleset(snapshot.value, null).match(firstVisit, NOW_SECONDS);
    loadMs = Math.min(loadMs, performance.now() - startedAt);
    const hashedAt = performance.now();
    await crypto.subtle.digest('SHA-256', file as Uint8Array<ArrayBuffer>);
    hashMs = Math.min(hashMs, performance.now() - hashedAt);
  }

  collect();
  const before = process.memoryUsage();
  const bytes = file.slice(0, payload.length);
  const ruleset = createRuleset(opened(bytes), null);
  for (const signals of visits) ruleset.match(signals, NOW_SECONDS);
  collect();
  const after = process.memoryUsage();
  const resident = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
  for (let i = 0; i < 1_000_000 / REQUESTS; i++) for (const signals of visits) ruleset.match(signals, NOW_SECONDS);
  collect();
  const growth = process.memoryUsage().heapUsed - after.heapUsed;

  let fired = 0;
  for (const signals of visits) if (ruleset.match(signals, NOW_SECONDS).fired.length > 0) fired++;
  const { p50, p99 } = percentiles(visits, (signals) => void ruleset.match(signals, NOW_SECONDS));
  const repeated = percentiles(
    withRepeatedHeaders(visits, SEED + 4),
    (signals) => void ruleset.match(signals, NOW_SECONDS),
  );
  const byText = new Map(visits.map(({ ip }, i) => [ip, i]));
  const floor = percentiles(visits, ({ ip }) => void byText.get(ip));
  return {
    load: {
      rules: String(ruleset.ruleCount),
      compile: milliseconds(compileMs),
      'size MB': (file.length / MEGABYTE).toFixed(2),
      'bytes/rule': (file.length / count).toFixed(1),
      load: milliseconds(loadMs),
      'load ÷ SHA-256': times(loadMs / hashMs),
      'resident MB': (Math.max(0, resident) / MEGABYTE).toFixed(1),
      'one change': milliseconds(await oneChange(opened(bytes), privateKey, keys)),
    },
    match: {
      rules: String(ruleset.ruleCount),
      fired: `${Math.round((fired / visits.length) * 100)} %`,
      'never repeated: p50 ns': nanoseconds(p50),
      'p99 ns': nanoseconds(p99),
      'p50 − Map.get': nanoseconds(p50 - floor.p50),
      'repeated headers: p50 ns': nanoseconds(repeated.p50),
      'p99 ns, repeated': nanoseconds(repeated.p99),
      'heap growth per 1M matches, KB': (growth / 1000).toFixed(0),
    },
    aims: [
      { what: 'decision, headers that never repeat: p50 ns', value: p50, most: 1000 },
      { what: 'size of the file, MB', value: file.length / MEGABYTE, most: 12 },
    ],
  };
}

/** Only the longest-prefix match of parsed addresses. */
function prefixes(count: number): { row: Record<string, string>; aim: Aim } {
  const snapshot = opened(compileRules(prefixRules(count, SEED)));
  const random = randomWords(SEED + 2);
  const hits = new Hits();
  const v4 = Uint32Array.from({ length: 65_536 }, random);
  const v6 = Array.from({ length: 16_384 }, () =>
    Uint32Array.of(0x20000000 | (random() & 0x0fff_ffff), random(), random(), random()),
  );
  const words = new Uint32Array(4);
  const v4Ns = best(v4.length, () => {
    for (const address of v4) {
      hits.clear();
      words[0] = address;
      snapshot.findAddress(4, words, hits);
    }
  });
  const v6Ns = best(v6.length, () => {
    for (const address of v6) {
      hits.clear();
      snapshot.findAddress(6, address, hits);
    }
  });
  const exact = new Map(Array.from(v4, (address, i) => [address, i]));
  const mapNs = best(v4.length, () => {
    for (const address of v4) exact.get(address);
  });
  let peer = '';
  if (count <= 10_000) {
    const scan = linearScan([...prefixRules(count, SEED)]);
    const peerNs = best(16, () => {
      for (let i = 0; i < 16; i++) scan(BigInt(v4[i] ?? 0), 4);
    });
    peer = times(peerNs / v4Ns);
  }
  const row = {
    prefixes: String(snapshot.ruleCount),
    'IPv4 ns': nanoseconds(v4Ns),
    'IPv6 ns': nanoseconds(v6Ns),
    'IPv4 ÷ Map.get': times(v4Ns / mapNs),
    'linear bigint scan ÷ IPv4': peer,
  };
  return { row, aim: { what: 'longest-prefix match, IPv4: ns', value: v4Ns, most: 75 } };
}

function userAgents(count: number): Record<string, string> {
  const bytes = compileRules(userAgentRules(count, SEED));
  const snapshot = opened(bytes);
  const headers = requests(512, [], SEED + 3).map(({ userAgent }) => userAgent);
  const hits = new Hits();
  const characters = headers.reduce((sum, { length }) => sum + length, 0);
  const ns = best(
    characters,
    () => {
      for (const header of headers) {
        hits.clear();
        snapshot.findUserAgents(header, hits);
      }
    },
    100,
  );
  const long = 'Mozilla/5.0 (compatible; '.repeat(600).slice(0, 14 * 1024);
  const longNs = best(long.length, () => {
    hits.clear();
    snapshot.findUserAgents(long, hits);
  });
  let sum = 0;
  const readNs = best(
    characters,
    () => {
      for (const header of headers) for (let i = 0; i < header.length; i++) sum += header.charCodeAt(i);
    },
    100,
  );
  const patterns = [...userAgentRules(Math.min(count, 10_000), SEED)].map(({ value }) => value);
  const includesNs = best(headers[0]?.length ?? 1, () => {
    const lower = headers[0]?.toLowerCase() ?? '';
    for (const pattern of patterns) if (lower.includes(pattern)) sum++;
  });
  return {
    substrings: String(snapshot.ruleCount),
    'ns per char': nanoseconds(ns),
    'ns per char, 14 KiB hostile': nanoseconds(longNs),
    '÷ reading the characters': times(ns / readNs),
    'String.includes, each ÷ ours': sum < 0 ? '' : times((includesNs * count) / patterns.length / ns),
    'size MB': (bytes.length / MEGABYTE).toFixed(2),
  };
}

/** Live memory of a compile with its signature, in a process of its own. */
function compileMemory(workload: string): Record<string, string> {
  const program = ['bench/rules/compile-memory.ts', workload, String(RULES_MAX)];
  const measured = JSON.parse(execFileSync(process.execPath, program, { encoding: 'utf8' })) as CompileMemory;
  return {
    [`${RULES_MAX} rules with expiry and rollout`]: workload,
    'peak MB': (measured.peakBytes / MEGABYTE).toFixed(1),
    'file MB': (measured.fileBytes / MEGABYTE).toFixed(1),
    'peak ÷ file': times(measured.peakBytes / measured.fileBytes),
  };
}

export async function run(args: readonly string[]): Promise<void> {
  const given = args.map(Number).filter((count) => Number.isInteger(count) && count > 0);
  const counts = given.length > 0 ? given : DEFAULT_COUNTS;
  const results: Mixed[] = [];
  for (const count of counts) results.push(await mixed(count));
  table(
    'Mixed rules: from rules to signed bytes to first decision',
    results.map(({ load }) => load),
  );
  table(
    'Mixed rules: one decision with a 128-character user agent, first with headers that never repeat',
    results.map(({ match }) => match),
  );
  const matches = counts.map(prefixes);
  table(
    'Longest-prefix match only (90 % IPv4, 10 % IPv6)',
    matches.map(({ row }) => row),
  );
  table('User agent substrings only', counts.filter((count) => count <= 100_000).map(userAgents));
  table('Memory of a compile; a Worker has 128 MB', Object.keys(memoryWorkloads).map(compileMemory));
  const bytes = compileRules(prefixRules(1_000_000, SEED));
  const words = new Uint32Array(4);
  const texts = requests(REQUESTS, [], SEED).map(({ ip }) => ip ?? '');
  table('Size and parsing', [
    {
      '900k IPv4 + 100k IPv6 prefixes, MB': (bytes.length / MEGABYTE).toFixed(2),
      'parsing an address, ns': nanoseconds(
        best(texts.length, () => texts.forEach((text) => parseIpInto(text, words))),
      ),
    },
  ]);
  const aimed = counts.indexOf(AIMED_COUNT);
  if (aimed < 0) return;
  table(
    `Targets with ${AIMED_COUNT} rules`,
    [...results[aimed]!.aims, matches[aimed]!.aim].map(({ what, value, most }) => ({
      target: what,
      measured: value < 100 ? value.toFixed(1) : value.toFixed(0),
      'at most': String(most),
      met: value <= most ? 'yes' : 'NO',
    })),
  );
}
