/** What limits are called for people: what they count, by what, and what happens above them. */
import type { limitKeyFacts } from '../../../contract/vocabulary.ts';
import { count, counted } from '../../format/numbers.ts';
import type { ListedLimit } from './limit-set.ts';

type KeyFact = (typeof limitKeyFacts)[number];

/** In the order of the form. */
export const keyWords: Readonly<Record<KeyFact, string>> = {
  ip: 'address (IPv6: /64)',
  prefix: 'network (/24, IPv6: /56)',
  asn: 'AS number',
  country: 'country',
  ja4: 'TLS fingerprint (JA4)',
  session: 'session',
  bot: 'bot',
  user: 'user name at login',
  path: 'path',
  host: 'host',
};
const keyShort: Readonly<Partial<Record<KeyFact, string>>> = {
  ip: 'address',
  prefix: 'network (/24)',
  ja4: 'TLS fingerprint',
  user: 'user name',
};

export const actionWords: Readonly<Record<ListedLimit['then'], string>> = {
  '429': '429 Too Many Requests',
  challenge: 'a challenge',
  block: 'the block page',
};

/** What a limit counts, in the form. */
export const eventWords = {
  request: 'every request',
  loginFailed: 'failed logins',
  challengeFailed: 'challenges that were not solved',
  status: 'responses of the origin with a status',
} as const;

export const algorithmWords = {
  sliding: 'with a window that moves (sliding)',
  bucket: 'evenly, after all at once (bucket)',
} as const;

export const unreachableWords = { open: 'pass', closed: 'are refused with 503' } as const;

const eventNouns: Readonly<Record<string, string>> = {
  request: 'request',
  loginFailed: 'failed login',
  challengeFailed: 'failed challenge',
};

const windowUnits = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const;

/** Exactly: 90 seconds are not a minute. */
export function windowText(seconds: number): string {
  const [size, unit] = windowUnits.find(([one]) => seconds % one === 0) ?? [1, 'second'];
  return counted(seconds / size, unit);
}

/** `header:x-api-key` → `header x-api-key`. */
export function keyPartWords(part: string): string {
  const fact = part as KeyFact;
  return keyShort[fact] ?? keyWords[fact] ?? part.replace(':', ' ');
}

/** `10 requests in 1 minute`. */
export function allowanceText({ count: uses, on, windowSeconds, algorithm }: ListedLimit): string {
  const what = on.startsWith('status:')
    ? `${count(uses)} ${uses === 1 ? 'response' : 'responses'} with ${on.slice('status:'.length)}`
    : counted(uses, eventNouns[on] ?? on);
  const how = algorithm === 'bucket' ? ' at once, and as many spread over ' : ' in ';
  return `${what}${how}${windowText(windowSeconds)}`;
}
