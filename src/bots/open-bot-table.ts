/**
 * Opens a bot table and answers who a request says it is, and whether its address is in the bot's networks. Bots are
 * read when a request first names one, and networks when their bot's name is first claimed: the first request of most
 * isolates names none.
 */
import { parseCidr } from '../address/ip.ts';
import { PrefixMap } from '../address/prefix-table.ts';
import { failed, ok, type Result } from '../result.ts';
import { Hits } from '../rules/hits.ts';
import { openSnapshot, type Snapshot } from '../rules/snapshot.ts';
import {
  align8,
  BOT_TABLE_HEADER_BYTES,
  BOT_TABLE_MAGIC_BYTES,
  BOT_TABLE_MAX_BYTES,
  botTableMagics,
  isBotLine,
  patternText,
  readBotLine,
  type TableBot,
  UNREAD,
} from './bot-table.ts';

/** Names of bots are near the beginning. Who hides one behind this can as well send another name. */
const USER_AGENT_READ_CHARS = 1024;

/** `none`: the bot's operator publishes no networks. `unknown`: not every list was read yet, and no read one has it. */
export type RangeAnswer = 'holds' | 'fails' | 'unknown' | 'none';

interface Pattern {
  bot: TableBot;
  /** In lower case. */
  text: string;
  sign: string;
}

interface Bots {
  listed: readonly TableBot[];
  byId: ReadonlyMap<string, TableBot>;
  byAgent: ReadonlyMap<string, TableBot>;
  /** By their text. */
  patterns: ReadonlyMap<string, Pattern>;
}

const REFUSED = failed('form');

/** Never throws. The table uses `bytes` itself, whose signature the caller has checked. */
export function openBotTable(bytes: Uint8Array): Result<BotTable, string> {
  if (bytes.length < BOT_TABLE_HEADER_BYTES || bytes.length > BOT_TABLE_MAX_BYTES) return REFUSED;
  const decoder = new TextDecoder();
  const textEnd = BOT_TABLE_HEADER_BYTES + new DataView(bytes.buffer, bytes.byteOffset).getUint32(8, true);
  const isOurs = botTableMagics.includes(decoder.decode(bytes.subarray(0, BOT_TABLE_MAGIC_BYTES)));
  if (!isOurs || textEnd > bytes.length) return REFUSED;
  const lines = decoder.decode(bytes.subarray(BOT_TABLE_HEADER_BYTES, textEnd)).split('\n');
  const builtAtMs = Number(lines[0]);
  const end = lines.indexOf('');
  const bots = lines.slice(1, end);
  if (end < 0 || Number.isNaN(builtAtMs) || !bots.every(isBotLine)) return REFUSED;
  const snapshot = openSnapshot(bytes.subarray(align8(textEnd)));
  return snapshot.ok ? ok(new BotTable({ builtAtMs, bots, networks: lines.slice(end + 1) }, snapshot.value)) : snapshot;
}

function readBots(lines: readonly string[]): Bots {
  const listed = lines.map(readBotLine).filter((bot) => bot !== null);
  const patterns = new Map<string, Pattern>();
  for (const bot of listed) {
    for (const one of bot.patterns) {
      const text = patternText(one).toLowerCase();
      patterns.set(text, { bot, text, sign: one.slice(0, one.length - text.length) });
    }
  }
  return {
    listed,
    byId: new Map(listed.map((bot) => [bot.id, bot])),
    byAgent: new Map(listed.toReversed().flatMap((bot) => bot.agents.map((agent) => [agent, bot]))),
    patterns,
  };
}

interface OpenedParts {
  /** Epoch milliseconds. */
  builtAtMs: number;
  /** A line for each bot. */
  bots: readonly string[];
  /** A line for each source. */
  networks: readonly string[];
}

export class BotTable {
  readonly builtAtMs: number;
  readonly #lines: readonly string[];
  #read: Bots | null = null;
  readonly #networks: readonly string[];
  readonly #lookups: (PrefixMap<true> | undefined)[] = [];
  readonly #snapshot: Snapshot;
  /** Patterns that were found, by the number of their rule in the snapshot. */
  readonly #found: (Pattern | undefined)[];
  readonly #hits = new Hits();

  constructor({ builtAtMs, bots, networks }: OpenedParts, snapshot: Snapshot) {
    this.builtAtMs = builtAtMs;
    this.#lines = bots;
    this.#networks = networks;
    this.#snapshot = snapshot;
    this.#found = Array.from({ length: snapshot.ruleCount });
  }

  get bots(): readonly TableBot[] {
    return this.#all().listed;
  }

  byId(id: string): TableBot | null {
    return this.#all().byId.get(id) ?? null;
  }

  /** The first bot whose requests are signed as this `Signature-Agent`. */
  byAgent(agent: string): TableBot | null {
    return this.#all().byAgent.get(agent) ?? null;
  }

  /** The bot that a user agent names. Of several names in it the longest counts. */
  identify(userAgent: string): TableBot | null {
    const text = userAgent.length > USER_AGENT_READ_CHARS ? userAgent.slice(0, USER_AGENT_READ_CHARS) : userAgent;
    const hits = this.#hits;
    hits.clear();
    this.#snapshot.findUserAgents(text, hits);
    return hits.count === 0 ? null : this.#longest(text, hits);
  }

  /** Whether the address is in a network of the bot's operator. */
  rangeAnswer(bot: TableBot, ip: string | null): RangeAnswer {
    if (bot.ranges.length === 0) return 'none';
    let answer: RangeAnswer = 'fails';
    for (const source of bot.ranges) {
      const lookup = this.#lookup(source);
      if (lookup === null) answer = 'unknown';
      else if (ip !== null && lookup.longest(ip) !== null) return 'holds';
    }
    return answer;
  }

  #lookup(source: number): PrefixMap<true> | null {
    const text = this.#networks[source] ?? UNREAD;
    if (text === UNREAD) return null;
    return (this.#lookups[source] ??= new PrefixMap(
      text.split(' ').flatMap((one) => {
        const prefix = parseCidr(one);
        return prefix === null ? [] : [[prefix, true] as const];
      }),
    ));
  }

  #pattern(rule: number): Pattern | undefined {
    return (this.#found[rule] ??= this.#all().patterns.get(this.#snapshot.value(rule)));
  }

  #all(): Bots {
    return (this.#read ??= readBots(this.#lines));
  }

  #longest(text: string, hits: Hits): TableBot | null {
    const lower = text.toLowerCase();
    let longest: Pattern | null = null;
    for (let i = 0; i < hits.count; i++) {
      const pattern = this.#pattern(hits.refs[i]! >>> 1);
      if (pattern === undefined || pattern.text.length <= (longest?.text.length ?? 0)) continue;
      if (isInPlace(lower, pattern)) longest = pattern;
    }
    return longest?.bot ?? null;
  }
}

const WORD_CHARACTER = /[a-z0-9]/;

function isInPlace(lower: string, { text, sign }: Pattern): boolean {
  if (sign === '*') return true;
  if (sign === '^') return lower.startsWith(text);
  for (let at = lower.indexOf(text); at >= 0; at = lower.indexOf(text, at + 1)) {
    if (at === 0 || !WORD_CHARACTER.test(lower[at - 1]!)) return true;
  }
  return false;
}
