/**
 * Names of headers, cookies and reserved paths, in lower case as `Headers` yields them. The edge strips from requests
 * what it sets itself, and both sides of that read the same list.
 */

export const header = {
  requestId: 'x-protect-request-id',
  decision: 'x-protect-decision',
  status: 'x-protect-status',
  verified: 'x-protect-verified',
  signature: 'x-protect-signature',
  signalsSecret: 'x-signals-secret',
  clientIp: 'x-client-ip',
  clientAsn: 'x-client-asn',
  clientCountry: 'x-client-country',
  clientJa4: 'x-client-ja4',
  clientUserAgent: 'x-client-user-agent',
} as const;

/** Readable by browser code on another origin. */
export const exposedHeaders = [header.requestId, header.decision, header.status] as const;

/** A metric of `Server-Timing`, the only header of its own page that a script can read. */
export const sessionRefusedTiming = 'protect-session-refused';

/** Another one: the protect script should work for more pages and calls. */
export const workDueTiming = 'protect-work';

export const cookie = {
  session: 'protect_session',
  clearance: '__Host-protect-clearance',
} as const;

/** Every path below it belongs to the edge and never reaches the origin. */
export const protectPrefix = '/__protect/';
