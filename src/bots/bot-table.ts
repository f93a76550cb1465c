/**
 * The bot table: the catalogue, the networks that its operators publish, and an operator's own bots, in one file that
 * the service signs and edges search in place. User agents are searched by the automaton of the access rules
 * (`src/rules/substring-match.ts`), which is a snapshot with user agent rules and nothing else. A bot is one line, whose
 * fields are read by hand: a schema for each of some hundred bots takes longer than opening may take.
 *
 *   magic such as "GHBOTS02" (8) | bytes of the text u32 | 0 u32 | text, padded to 8 | snapshot
 *
 * The text has the time of its making in epoch milliseconds, a line for each bot, an empty line, and a line for each
 * source of networks: its prefixes with a space between, or `?` when it was never read.
 */
import { botTableFormats } from '../contract/edge/formats.ts';
import { type BotBehaviour, botBehaviours } from '../contract/vocabulary.ts';

/** The magic of a table in this format, and the format of its snapshot. */
export function partsOfFormat(format: string): [magic: string, snapshotFormat: string] {
  const [magic = '', snapshotFormat = ''] = format.split('/');
  return [magic, snapshotFormat];
}

export const botTableMagics: readonly string[] = botTableFormats.map((format) => partsOfFormat(format)[0]);
export const BOT_TABLE_MAGIC_BYTES = 8;
export const BOT_TABLE_HEADER_BYTES = 16;
/** Far above what the catalogue and all published networks need. */
export const BOT_TABLE_MAX_BYTES = 8 * 1024 * 1024;
export const UNREAD = '?';

export const align8 = (bytes: number): number => (bytes + 7) & ~7;

/** A bot as the edge needs it. */
export interface TableBot {
  id: string;
  behaviours: readonly BotBehaviour[];
  /** Texts of user agents (`catalogue.ts`). */
  patterns: readonly string[];
  /** Product tokens of robots.txt. */
  tokens: readonly string[];
  /** Places in `networks`. */
  ranges: readonly number[];
  /** `Signature-Agent` addresses. */
  agents: readonly string[];
  /** Whether names in the DNS prove the bot's addresses. */
  hasDns: boolean;
  /** The operator says that each of its requests can be proved. */
  isComplete: boolean;
}

/** A newer service may add behaviours, flags, and fields at the end. */
const LINE = /^([a-z0-9][a-z0-9.-]{0,63})\t([a-z]+)\t([a-z]*)\t([^\t]*)\t([^\t]*)\t([^\t]*)\t([\d ]*)(?:\t|$)/;
/** Between two texts of one field. No text has it. */
const SEPARATOR = '\u001f';

/** `a` for the first behaviour, `b` for the second; `d` for DNS, `c` for complete. */
export function botLine(bot: TableBot): string {
  const behaviours = bot.behaviours.map((one) => String.fromCharCode(97 + botBehaviours.indexOf(one))).join('');
  const flags = (bot.hasDns ? 'd' : '') + (bot.isComplete ? 'c' : '');
  const lists = [bot.patterns, bot.tokens, bot.agents].map((list) => list.join(SEPARATOR));
  return [bot.id, behaviours, flags, ...lists, bot.ranges.join(' ')].join('\t');
}

/** Whether a line is one of a bot. */
export function isBotLine(line: string): boolean {
  return LINE.test(line);
}

/** `null` for any other line. A behaviour that is not known here counts as `other`. */
export function readBotLine(line: string): TableBot | null {
  const fields = LINE.exec(line);
  if (fields === null) return null;
  const [, id = '', behaviours = '', flags = '', patterns = '', tokens = '', agents = '', ranges = ''] = fields;
  return {
    id,
    behaviours: Array.from(behaviours, (letter) => botBehaviours[letter.charCodeAt(0) - 97] ?? 'other'),
    patterns: split(patterns, SEPARATOR),
    tokens: split(tokens, SEPARATOR),
    agents: split(agents, SEPARATOR),
    ranges: split(ranges, ' ').map(Number),
    hasDns: flags.includes('d'),
    isComplete: flags.includes('c'),
  };
}

const split = (text: string, separator: string): string[] => (text === '' ? [] : text.split(separator));

/** A pattern without its sign: `^` the beginning of the user agent, `*` anywhere, none the start of a word. */
export function patternText(pattern: string): string {
  return /^[*^]/.test(pattern) ? pattern.slice(1) : pattern;
}
