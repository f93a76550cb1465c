/**
 * Rules and requests to measure with, made from a seed. They have the shape of a real edge's rules: threat feeds of
 * addresses and prefixes, and some AS numbers, countries, fingerprints and bot names.
 */
import { RulesetCompiler } from '../../src/rules/compiler.ts';
import { countryCodes } from '../../src/address/country-codes.ts';
import { formatV4, formatV6, mask32, parseIp } from '../../src/address/ip.ts';
import type { EdgeRule, MatchSignals } from '../../src/rules/types.ts';

/** Uniform 32-bit numbers from a seed (mulberry32). */
export function randomWords(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
}

const verdicts = ['allow', 'challenge', 'block'] as const;
const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
const botWords = ['bot', 'crawler', 'spider', 'scraper', 'fetch', 'http', 'client', 'scan', 'agent', 'monitor'];

function word(random: () => number, length: number): string {
  let text = '';
  for (let i = 0; i < length; i++) text += letters[random() % letters.length];
  return text;
}

/** A bot's name, such as `xkqzbot/2.1`, `mozilla/5.0 (compatible; ab1crawler` or `python-zzq/3`. */
function botName(random: () => number): string {
  const name = word(random, 3 + (random() % 8)) + botWords[random() % botWords.length];
  const kind = random() % 8;
  if (kind === 0) return `mozilla/5.0 (compatible; ${name}`;
  if (kind === 1) return `python-${name}/${random() % 9}.${random() % 30}`;
  return kind < 5 ? `${name}/${random() % 9}.${random() % 30}` : name;
}

const v4Lengths = [16, 18, 19, 20, 20, 21, 21, 22, 22, 22, 23, 23, 25, 26, 27, 28, 29, 30, 31, 32];

function v4Rule(random: () => number, verdict: EdgeRule['verdict']): EdgeRule {
  const address = random();
  const kind = random() % 10;
  if (kind < 4) return { type: 'ip', value: formatV4(address), verdict };
  // Like announced and listed prefixes: most are /24, few are wider, some are narrower.
  const length = kind < 8 ? 24 : (v4Lengths[random() % v4Lengths.length] ?? 24);
  return { type: 'ipMask', value: `${formatV4((address & mask32(length)) >>> 0)}/${length}`, verdict };
}

function v6Rule(random: () => number, verdict: EdgeRule['verdict']): EdgeRule {
  // Inside the blocks of the regional registries, like real ones.
  const w0 = (0x20000000 | (random() & 0x0fff_ffff)) >>> 0;
  const length = [32, 40, 48, 56, 64, 128][random() % 6] ?? 48;
  const value = formatV6(w0, (random() & mask32(length - 32)) >>> 0, length > 64 ? random() : 0, length > 64 ? 1 : 0);
  return length === 128 ? { type: 'ip', value, verdict } : { type: 'ipMask', value: `${value}/${length}`, verdict };
}

/** 90 % IPv4 and 10 % IPv6. */
export function* prefixRules(count: number, seed: number): Generator<EdgeRule> {
  const random = randomWords(seed);
  for (let i = 0; i < count; i++) {
    const verdict = verdicts[random() % 3] ?? 'block';
    yield i % 10 === 9 ? v6Rule(random, verdict) : v4Rule(random, verdict);
  }
}

export function* userAgentRules(count: number, seed: number): Generator<EdgeRule> {
  const random = randomWords(seed);
  for (let i = 0; i < count; i++)
    yield { type: 'userAgent', value: botName(random), verdict: verdicts[i % 3] ?? 'block' };
}

/** One in a hundred is a user agent, at most 10,000. Some are fingerprints, AS numbers and countries, the rest addresses. */
export function* mixedRules(count: number, seed: number): Generator<EdgeRule> {
  const random = randomWords(seed);
  const userAgents = Math.min(10_000, Math.ceil(count / 100));
  const others = Math.ceil(count / 50);
  yield* userAgentRules(userAgents, seed + 1);
  const countries = [...countryCodes].slice(0, 40);
  for (const value of countries) yield { type: 'countryCode', value, verdict: verdicts[random() % 3] ?? 'block' };
  for (let i = 0; i < others; i++) {
    const verdict = verdicts[random() % 3] ?? 'block';
    if (i % 2 === 0) yield { type: 'asn', value: String(random() % 400_000), verdict };
    else yield { type: 'ja4Hash', value: fingerprint(random), verdict };
  }
  yield* prefixRules(count - userAgents - others - countries.length, seed + 2);
}

function fingerprint(random: () => number): string {
  const hex = (): string => random().toString(16).padStart(8, '0') + (random() & 0xffff).toString(16).padStart(4, '0');
  return `t13d${10 + (random() % 60)}${10 + (random() % 20)}h2_${hex()}_${hex()}`;
}

/** Each with an expiry and a rollout, which is what takes most memory beside the value. */
function* withExtras(rules: Iterable<EdgeRule>): Generator<EdgeRule> {
  let i = 0;
  for (const rule of rules) yield { ...rule, expiry: 1_900_000_000 + (i++ % 1000), rollout: i % 101 };
}

/** Fingerprints are the largest values of a fixed size. */
function* fingerprintRules(count: number, seed: number): Generator<EdgeRule> {
  const random = randomWords(seed);
  for (let i = 0; i < count; i++) yield { type: 'ja4Hash', value: fingerprint(random), verdict: 'block' };
}

/** At the limits of number, text and states. */
function* largestUserAgentRules(seed: number): Generator<EdgeRule> {
  const random = randomWords(seed);
  for (let i = 0; i < 50_000; i++) {
    const name = word(random, 31);
    yield { type: 'userAgent', value: (name + name).padEnd(160, letters), verdict: 'block' };
  }
}

export type MemoryWorkload = 'addresses' | 'fingerprints' | 'fingerprints and user agents';

/** Rules whose compile is measured in memory. */
export const memoryWorkloads: Record<MemoryWorkload, (count: number) => Iterable<EdgeRule>> = {
  addresses: (count) => withExtras(prefixRules(count, 1)),
  fingerprints: (count) => withExtras(fingerprintRules(count, 1)),
  *'fingerprints and user agents'(count) {
    yield* withExtras(fingerprintRules(count - 50_000, 1));
    yield* withExtras(largestUserAgentRules(2));
  },
};

/** A browser's user agent of exactly 128 characters, with random versions. */
export function browserUserAgent(random: () => number): string {
  const system = ['Windows NT 10.0; Win64; x64', 'Macintosh; Intel Mac OS X 10_15_7', 'X11; Linux x86_64'][
    random() % 3
  ];
  const text =
    `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) ` +
    `Chrome/${100 + (random() % 40)}.0.${random() % 7000}.${random() % 200} Safari/537.36 Edg/${random() % 200}.0.${random() % 9000}`;
  return text.slice(0, 128).padEnd(128, '.');
}

/** How many browsers requests come from when headers repeat. */
const BROWSERS = 1000;

/**
 * The same requests with headers that repeat as those of visitors do: the nth most common of a thousand is n times rarer
 * than the first, so that the first hundred make up seven in ten requests.
 */
export function withRepeatedHeaders(given: readonly MatchSignals[], seed: number): MatchSignals[] {
  const random = randomWords(seed);
  const headers = Array.from({ length: BROWSERS }, () => browserUserAgent(random));
  const sums: number[] = [];
  headers.forEach((_, n) => sums.push((sums[n - 1] ?? 0) + 1 / (n + 1)));
  const total = sums.at(-1) ?? 1;
  return given.map((signals) => {
    const point = (random() / 2 ** 32) * total;
    const n = sums.findIndex((sum) => sum > point);
    return { ...signals, userAgent: headers[n] ?? '' };
  });
}

const ownText = (text: string): string => Buffer.from(text).toString('latin1');

/**
 * As the edge hands them over: each request has texts of its own, never the string object of an earlier one, and its
 * address is parsed.
 */
export function arriving(given: readonly MatchSignals[]): MatchSignals[] {
  return given.map((signals) => ({
    ...signals,
    userAgent: ownText(signals.userAgent),
    ja4: signals.ja4 === null ? null : ownText(signals.ja4),
    parsedIp: signals.ip === null ? null : parseIp(signals.ip),
  }));
}

/** Requests, half of them from addresses that a rule covers. */
export function requests(count: number, rules: readonly EdgeRule[], seed: number): MatchSignals[] {
  const random = randomWords(seed);
  const addresses = rules.filter(({ type }) => type === 'ip' || type === 'ipMask');
  const countries = [...countryCodes];
  return Array.from({ length: count }, (_, i) => {
    const listed = addresses.length > 0 && i % 2 === 0 ? addresses[random() % addresses.length] : undefined;
    const v6 = formatV6((0x20000000 | (random() & 0x0fff_ffff)) >>> 0, random(), random(), random());
    return {
      ip: listed ? (listed.value.split('/')[0] ?? null) : i % 10 === 9 ? v6 : formatV4(random()),
      asn: random() % 400_000,
      countryCode: countries[random() % countries.length] ?? null,
      ja4: fingerprint(random),
      userAgent: browserUserAgent(random),
      rolloutBucket: random() % 10_000,
    };
  });
}

export function compileRules(rules: Iterable<EdgeRule>): Uint8Array {
  const compiler = new RulesetCompiler({ instanceId: 'bench', version: 1, createdAtMs: 0 });
  for (const rule of rules) compiler.add(rule);
  return compiler.finish();
}
