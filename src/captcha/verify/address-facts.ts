/**
 * What the operator knows of addresses: an optional dataset by prefix, longest match first. Without one
 * the filters that need it say "not evaluated" (design 5); nobody is called over the network.
 */
import * as z from 'zod/mini';
import { parseCidr } from '../../address/ip.ts';
import type { IpPrefix } from '../../address/ip.ts';
import { PrefixLookup } from '../../address/prefix-lookup.ts';

/** A variable holds 5 kB in production; the bound keeps a scan within microseconds. */
const PREFIXES_MAX = 2000;

const facts = z.strictObject({
  country: z._default(z.nullable(z.string().check(z.regex(/^[A-Z0-9]{2}$/))), null),
  asn: z._default(z.nullable(z.int()), null),
  network: z._default(z.nullable(z.string().check(z.maxLength(128))), null),
  city: z._default(z.nullable(z.string().check(z.maxLength(128))), null),
  latitude: z._default(z.nullable(z.number()), null),
  longitude: z._default(z.nullable(z.number()), null),
  categories: z._default(z.nullable(z.array(z.string().check(z.maxLength(16))).check(z.maxLength(16))), null),
  abuseScore: z._default(z.nullable(z.number().check(z.gte(0), z.lte(1))), null),
});
export type AddressFacts = z.infer<typeof facts>;
const dataset = z.record(z.string(), facts);

export type AddressLookup = (ip: string) => AddressFacts | null;

/** @throws with the reason when the operator's dataset cannot be read: a set-up error, said at once. */
export function readAddressFacts(json: string | null): AddressLookup | null {
  if (json === null || json === '') return null;
  const read = dataset.safeParse(JSON.parse(json));
  if (!read.success) throw new Error('ADDRESS_FACTS must look like {"192.0.2.0/24": {"country": "DE", "asn": 64496}}');
  const entries = Object.entries(read.data);
  if (entries.length > PREFIXES_MAX) throw new Error(`ADDRESS_FACTS may have at most ${PREFIXES_MAX} prefixes`);
  const prefixes = new PrefixLookup(entries.map(([text, value]) => [requiredPrefix(text), value] as const));
  return (ip) => prefixes.longest(ip);
}

function requiredPrefix(text: string): IpPrefix {
  const prefix = parseCidr(text);
  if (prefix === null) throw new Error(`ADDRESS_FACTS: ${text} is not a prefix`);
  return prefix;
}
