/**
 * Proves a bot by the names of its address, confirmed forward: the address resolves to a name of the bot's operator, and
 * that name resolves to the address. The owner of an address can give it any name; only the owner of a name can give it an
 * address.
 */
import { canonicalIp, type IpAddress, parseIp, singleNetwork } from '../../address/ip.ts';
import { fitsHostMask } from '../../bots/host-mask.ts';
import { isReserved } from '../../address/reserved.ts';
import type { BotNameAnswer } from '../../contract/edge/bot-calls.ts';
import type { Result } from '../../result.ts';
import type { DnsFault, DnsRecords } from './dns-over-https.ts';

/** How a name is looked up. */
type Resolve = (name: string, type: 'A' | 'AAAA' | 'PTR') => Promise<Result<DnsRecords, DnsFault>>;

/** Names of one address that are looked up again. An operator's address has one. */
const NAMES_MAX = 3;
const HOLDS_SECONDS = { least: 300, most: 86_400 };
/** A bot that moves to a new address is not refused for a day. */
const FAILS_SECONDS = { least: 300, most: 3600 };
const NO_ANSWER_SECONDS = 60;

export async function provedByName(ip: string, masks: readonly string[], resolve: Resolve): Promise<BotNameAnswer> {
  const address = parseIp(ip);
  if (address === null || isReserved(singleNetwork(address))) {
    return { holds: false, ttlSeconds: FAILS_SECONDS.most };
  }
  const pointed = await resolve(pointerName(address), 'PTR');
  if (!pointed.ok) return { holds: null, ttlSeconds: NO_ANSWER_SECONDS };
  const names = pointed.value;
  const fitting = names.records.filter((name) => masks.some((mask) => fitsHostMask(name, mask))).slice(0, NAMES_MAX);
  const type = address.family === 4 ? 'A' : 'AAAA';
  const forward = await Promise.all(fitting.map((name) => resolve(name, type)));
  const wanted = canonicalIp(ip);
  const answers = forward.flatMap((answer) => (answer.ok ? [answer.value] : []));
  const confirmed = answers.find(({ records }) => records.some((record) => canonicalIp(record) === wanted));
  if (confirmed) {
    return { holds: true, ttlSeconds: within(HOLDS_SECONDS, Math.min(names.ttlSeconds, confirmed.ttlSeconds)) };
  }
  if (answers.length < forward.length) return { holds: null, ttlSeconds: NO_ANSWER_SECONDS };
  return { holds: false, ttlSeconds: within(FAILS_SECONDS, names.ttlSeconds) };
}

function within({ least, most }: { least: number; most: number }, seconds: number): number {
  return Math.min(most, Math.max(least, seconds));
}

/** `1.2.0.192.in-addr.arpa`, or the 32 digits of an IPv6 address in reverse order below `ip6.arpa`. */
function pointerName({ family, words }: IpAddress): string {
  if (family === 4) {
    const [word = 0] = words;
    return `${[0, 8, 16, 24].map((shift) => (word >>> shift) & 255).join('.')}.in-addr.arpa`;
  }
  const digits = words.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  return `${digits.split('').toReversed().join('.')}.ip6.arpa`;
}
