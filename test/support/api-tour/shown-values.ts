/**
 * What an example shows in place of the values of one run: ids, times and addresses that look like examples, and words in
 * place of secrets. One value has the same stand-in everywhere, so that a reader sees which id a call takes from another.
 */
import type { Stack } from '../../../src/cli/stack.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The day of the examples. */
const SHOWN_START_MS = Date.UTC(2026, 0, 5, 9);
const DAY_MS = 86_400_000;
/** A client JWT expires a year after it is made. */
const SHIFTED_MS = { before: 2 * DAY_MS, after: 400 * DAY_MS };
const ITEMS_MAX = 2;
const LONG_ITEM_CHARS = 500;
const LINES_MAX = 6;

/** Fields that hold a secret or a credential. */
const SECRETS: Readonly<Record<string, string>> = {
  secretKey: 'YOUR_SECRET_KEY',
  secret: 'YOUR_SECRET_KEY',
  clientJwt: 'YOUR_CLIENT_JWT',
  clientJwtToken: 'YOUR_CLIENT_JWT',
  privateKey: 'YOUR_PRIVATE_KEY',
};
/** Opaque texts of a challenge, as long as a page. */
const SEALED = new Set(['challenge', 'token', 'response', 'n', 'x', 'y', 'captcha-response']);

export class ShownValues {
  readonly #stack: Stack;
  readonly #startMs: number;
  readonly #standIns = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  constructor(stack: Stack, startMs: number) {
    this.#stack = stack;
    this.#startMs = startMs;
  }

  /** @param key of the field that holds the value. */
  shown(value: unknown, key = ''): Json {
    if (Array.isArray(value)) {
      const items = JSON.stringify(value[0] ?? '').length > LONG_ITEM_CHARS ? 1 : ITEMS_MAX;
      const shown = value.slice(0, items).map((item) => this.shown(item, key));
      // Two hosts of the run may have one stand-in.
      return shown.filter((item, place) => typeof item !== 'string' || shown.indexOf(item) === place);
    }
    if (typeof value === 'object' && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, this.shown(inner, name)]));
    }
    if (typeof value === 'number') return this.#time(value);
    return typeof value === 'string' ? this.#text(value, key) : (value as Json);
  }

  #text(text: string, key: string): string {
    const secret = SECRETS[key];
    if (secret !== undefined) return text.startsWith('whsec_') ? `whsec_${secret}` : secret;
    if (key === 'token' && text.startsWith('eyJ')) return 'YOUR_API_KEY_TOKEN';
    if (SEALED.has(key) && text.length > 40) return `EXAMPLE_OF_${key.toUpperCase()}`;
    if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return new Date(this.#time(Date.parse(text))).toISOString();
    if (text.includes('\n') && !['content'].includes(key)) return this.#lines(text);
    return this.#ids(this.#hosts(text, key));
  }

  /** The first lines of a long text. */
  #lines(text: string): string {
    const lines = text.split('\n');
    const shown = lines.slice(0, LINES_MAX).map((line) => this.#ids(this.#hosts(this.#times(line), '')));
    return `${shown.join('\n')}${lines.length > LINES_MAX ? '\n…' : ''}`;
  }

  #times(text: string): string {
    return text.replaceAll(/\b1\d{12}\b/g, (time) => String(this.#time(Number(time))));
  }

  #hosts(text: string, key: string): string {
    const name = key === 'hostname' || key === 'domains' || key === 'host' ? 'www.shop.example' : '203.0.113.7';
    return text
      .replaceAll(this.#stack.serviceUrl, 'https://gatehouse.example.com')
      .replaceAll(this.#stack.edgeUrl, 'https://www.shop.example')
      .replaceAll(/127\.0\.0\.1:\d+|\blocalhost\b/g, 'www.shop.example')
      .replaceAll('127.0.0.1', name)
      .replaceAll(this.#stack.ownerEmail, 'owner@shop.example');
  }

  #ids(text: string): string {
    return text
      .replaceAll(/\b(site|inst|key|chan|job|acc|evt)_[\w-]{10,}/g, (id, kind: string) =>
        this.#standIn(id, kind, (count) => `${kind}_EXAMPLE_${count}`),
      )
      .replaceAll(/\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/g, (id) =>
        this.#standIn(id, 'uuid', (count) => `00000000-0000-7000-8000-${String(count).padStart(12, '0')}`),
      )
      .replaceAll(/\b(?:[0-9a-f]{12}-[0-9a-f]{20}|[0-9a-f]{32}|[0-9a-f]{64})\b/g, (id) =>
        this.#standIn(id, 'hex', (count) => id.replaceAll(/[^-]/g, '0').slice(0, -1) + count.toString(16).at(-1)!),
      )
      .replaceAll(/(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{20,}(?![\w-])/g, (id) =>
        this.#standIn(id, 'id', (count) => `EXAMPLE_ID_${count}`),
      );
  }

  #standIn(value: string, kind: string, make: (count: number) => string): string {
    const known = this.#standIns.get(value);
    if (known !== undefined) return known;
    if (value.includes('EXAMPLE')) return value;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const made = make(count);
    this.#standIns.set(value, made);
    return made;
  }

  /** A time of the run as one of the examples' day, in whole seconds. */
  #time(value: number): number {
    const shift = (valueMs: number): number => SHOWN_START_MS + Math.floor((valueMs - this.#startMs) / 1000) * 1000;
    const isOfTheRun = (valueMs: number): boolean =>
      valueMs > this.#startMs - SHIFTED_MS.before && valueMs < this.#startMs + SHIFTED_MS.after;
    return isOfTheRun(value) ? shift(value) : isOfTheRun(value * 1000) ? shift(value * 1000) / 1000 : value;
  }
}

/** Which fields a value has, and of which types. `null` and an empty list fit anything. */
export function shapesDiffer(recorded: unknown, found: unknown, place = ''): string[] {
  if (recorded === null || found === null) return [];
  if (Array.isArray(recorded) && Array.isArray(found)) {
    return recorded.length === 0 || found.length === 0 ? [] : shapesDiffer(recorded[0], found[0], `${place}[]`);
  }
  if (typeof recorded === 'object' && typeof found === 'object' && !Array.isArray(recorded) && !Array.isArray(found)) {
    const [one, other] = [recorded as Record<string, unknown>, found as Record<string, unknown>];
    return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((name) =>
      name in one && name in other
        ? shapesDiffer(one[name], other[name], `${place}.${name}`)
        : [`${place}.${name} is only in ${name in one ? 'the example' : 'the response'}`],
    );
  }
  const [a, b] = [recorded, found].map((value) => (Array.isArray(value) ? 'array' : typeof value));
  return a === b ? [] : [`${place} is ${a} in the example and ${b} in the response`];
}
