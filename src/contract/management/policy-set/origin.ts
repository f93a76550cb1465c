/** One named origin of an instance: where the requests go that a policy or their host name sends there. */
import * as z from 'zod/mini';
import { isOriginAddress } from './origin-address.ts';

const ORIGINS_MAX = 20;
const ORIGIN_HOSTS_MAX = 100;

export const areFewOrigins = (named: object): boolean => Object.keys(named).length <= ORIGINS_MAX;
export const tooManyOrigins = `must have at most ${ORIGINS_MAX} origins`;

/** As an edge compares the host of a request: without a port, and without the dot that a full name may end with. */
const host = z.string().check(
  z.maxLength(253),
  z.refine((name) => {
    const isPlain = !/[^A-Za-z0-9._-]|\.$/.test(name);
    return isPlain && URL.parse(`http://${name}`)?.host === name.toLowerCase();
  }, 'must be a host name in ASCII, without a port'),
);

const hosts = z._default(z.array(host).check(z.maxLength(ORIGIN_HOSTS_MAX)), []);

const originUrl = z
  .string()
  .check(
    z.maxLength(512),
    z.refine(
      isOriginAddress,
      'must be an http(s) address of a public host name, without credentials, query or fragment',
    ),
  );

/** Other bindings of an edge are not origins: no policy may send visitors to the service. */
const originBinding = z
  .string()
  .check(z.regex(/^ORIGIN_[A-Z0-9_]{1,57}$/, 'must begin with ORIGIN_, in capital letters, digits and underscores'));

export const origin = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('url'), url: originUrl, hosts }),
  /** The server that the zone's DNS record names. */
  z.strictObject({ kind: z.literal('zone'), hosts }),
  z.strictObject({ kind: z.literal('binding'), binding: originBinding, hosts }),
]);
export type Origin = z.infer<typeof origin>;

/** With its name, as differences list it. */
export const originListed = z.object({
  name: z.string(),
  kind: z.enum(['url', 'zone', 'binding']),
  url: z.optional(z.string()),
  binding: z.optional(z.string()),
  hosts: z.array(z.string()),
});
export type NamedOrigin = z.infer<typeof originListed>;
