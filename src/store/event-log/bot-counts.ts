/**
 * The texts under which requests of bots are counted. One has the bot, its proof and whether it was charged, so that
 * each of these, and every mixture, is a sum of a few counts. The other has the bot, its proof and what it asked for.
 * No id, proof or host has a blank in it.
 */
import { type BotProof, botProofs } from '../../contract/vocabulary.ts';

/** The fields of a record that say who a bot is and what became of its request. */
export interface BotRecord {
  bot?: { id: string; proof: string } | null | undefined;
  source: string;
  decision?: string;
  status?: number | string;
  host?: string | null;
  request_path?: string | null;
}

export interface CountedBot {
  id: string;
  proof: BotProof;
  /** Answered by 402 on account of the bot policy. */
  isCharged: boolean;
}

export interface CountedBotPath {
  id: string;
  proof: BotProof;
  host: string;
  path: string;
}

const CHARGED = 'charged';
/** Nearly every record has no bot. */
const NONE: readonly string[] = [];
/** Visitors choose hosts. A longer one is cut, and no file is known of what is left. */
const HOST_MAX_CHARS = 100;
/** Requests of the gate's own, which no crawler chooses. */
const notAsked = new Set(['internal', 'preflight']);

export function botValue({ id, proof, isCharged }: CountedBot): string {
  return `${id} ${proof}${isCharged ? ` ${CHARGED}` : ''}`;
}

/** Every text that a bot can be counted under. */
export function botValues(id: string): string[] {
  return botProofs.flatMap((proof) => [false, true].map((isCharged) => botValue({ id, proof, isCharged })));
}

/** `null` for a text that `botValue` does not write. */
export function readBotValue(value: string): CountedBot | null {
  const [id = '', word, charged] = value.split(' ');
  const proof = botProofs.find((one) => one === word);
  return proof === undefined ? null : { id, proof, isCharged: charged === CHARGED };
}

export function readBotPath(value: string): CountedBotPath | null {
  const [id = '', word, host = '', ...rest] = value.split(' ');
  const proof = botProofs.find((one) => one === word);
  return proof === undefined ? null : { id, proof, host, path: rest.join(' ') };
}

/** Of one record; none for a record without a bot. */
export function recordBotValues({ bot, decision, status }: BotRecord): readonly string[] {
  if (!bot) return NONE;
  return [`${bot.id} ${bot.proof}${decision === 'block' && status === 402 ? ` ${CHARGED}` : ''}`];
}

export function recordBotPaths(
  { bot, source, host, request_path: path }: BotRecord,
  cut: (text: string) => string,
): readonly string[] {
  if (!bot || notAsked.has(source)) return NONE;
  return [`${bot.id} ${bot.proof} ${(host ?? '').slice(0, HOST_MAX_CHARS)} ${cut(path ?? '')}`];
}
