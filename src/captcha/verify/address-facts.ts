/**
 * What the operator knows about addresses: an optional dataset by prefix, in which the longest match counts. Without one,
 * the filters that need it report "not evaluated". No network call is made.
 */
import * as z from 'zod/mini';
import { type IpPrefix, parseCidr } from '../../address/ip.ts';
import { PrefixMap } from '../../address/prefix-table.ts';
import { parseJson } from '../../bytes/json.ts';
import { failed, ok, type Result } from '../../result.ts';

/** A variable holds 5 kB in production. The bound keeps the start of an isolate short. */
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

/** The look-up of the operator's dataset, `null` without one, or the mistake in it. */
export function readAddressFacts(json: string | null): Result<AddressLookup | null, string> {
  if (json === null || json === '') return ok(null);
  const read = dataset.safeParse(parseJson(json));
  if (!read.success) return failed('ADDRESS_FACTS must look like {"192.0.2.0/24": {"country": "DE", "asn": 64496}}');
  const entries: (readonly [IpPrefix, AddressFacts])[] = [];
  for (const [text, value] of Object.entries(read.data)) {
    const prefix = parseCidr(text);
    if (prefix === null) return failed(`ADDRESS_FACTS names ${text}, which is not a prefix`);
    entries.push([prefix, value]);
  }
  if (entries.length > PREFIXES_MAX) return failed(`ADDRESS_FACTS may have at most ${PREFIXES_MAX} prefixes`);
  const prefixes = new PrefixMap(entries);
  return ok((ip) => prefixes.longest(ip));
}
