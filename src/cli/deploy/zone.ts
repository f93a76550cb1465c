/**
 * The zone of a host, and what stands in the way of a route or a domain in it. Everything is checked before the first
 * change, because wrangler without a terminal replaces DNS records and domains of others without a question. The platform
 * runs one Worker for a request: that of the most specific route. So a new route may silently end a Worker, or a longer
 * one the gate.
 */
import { Resolver } from 'node:dns/promises';
import * as z from 'zod/mini';
import { OperatorError } from '../failure.ts';
import { ApiError, type CloudflareApi } from './cloudflare-api.ts';

export interface Zone {
  id: string;
  name: string;
  accountId: string;
}

const zoneShape = z.object({
  id: z.string(),
  name: z.string(),
  status: z._default(z.string(), 'active'),
  account: z.object({ id: z.string() }),
});
const recordShape = z.object({ type: z.string(), name: z.string(), proxied: z._default(z.boolean(), false) });
const routeShape = z.object({ id: z.string(), pattern: z.string(), script: z.optional(z.nullable(z.string())) });
const domainShape = z.object({ id: z.string(), hostname: z.string(), service: z.optional(z.nullable(z.string())) });

export type Route = z.infer<typeof routeShape>;

/** The zone that holds `host`. `CLOUDFLARE_ACCOUNT_ID` restricts the search; otherwise the zone says the account. */
export async function zoneOf(api: CloudflareApi, host: string, flag: string): Promise<Zone> {
  const accountId = process.env['CLOUDFLARE_ACCOUNT_ID'];
  const inAccount = accountId ? `&account.id=${encodeURIComponent(accountId)}` : '';
  const labels = host.split('.');
  for (let at = 0; at + 2 <= labels.length; at += 1) {
    const name = labels.slice(at).join('.');
    const found = (await api.list(zoneShape, `/zones?name=${encodeURIComponent(name)}${inAccount}`)).filter(
      (zone) => zone.name === name && (!accountId || zone.account.id === accountId),
    );
    const active = found.filter(({ status }) => status === 'active');
    const [zone] = active;
    if (zone !== undefined && active.length === 1) return { id: zone.id, name, accountId: zone.account.id };
    if (active.length > 1)
      throw new OperatorError(
        `Several accounts of the login have the zone ${name}. Set CLOUDFLARE_ACCOUNT_ID to one of: ${active.map(({ account }) => account.id).join(', ')}.`,
      );
    if (found[0] !== undefined)
      throw new OperatorError(
        `The zone ${name} is ${found[0].status}, not active. Finish its set-up in the Cloudflare dashboard, and run the command again.`,
      );
  }
  const known = (await api.list(zoneShape, `/zones${inAccount.replace('&', '?')}`))
    .slice(0, 10)
    .map(({ name }) => name);
  throw new OperatorError(
    `No zone of the login holds ${host}. ${known.length === 0 ? 'It sees no zone' : `It sees ${known.join(', ')}`}. Correct ${flag}, add the zone to the account, or log in to the account that has it.`,
  );
}

/** @returns a warning when the login may not read DNS records: the proof at the end then shows a mistake. */
export async function checkProxied(api: CloudflareApi, zone: Zone, host: string): Promise<string | null> {
  let records: z.infer<typeof recordShape>[] = [];
  for (const name of [host, ...wildcardsOver(host, zone)]) {
    try {
      records = await recordsOf(api, zone, name);
    } catch (error) {
      if (error instanceof ApiError && error.isForbidden)
        return `The login may not read DNS records, so nobody has checked that ${host} is proxied.`;
      throw error;
    }
    if (records.length > 0) break;
  }
  if (records.length === 0)
    throw new OperatorError(
      `${host} has no DNS record in the zone ${zone.name}. Add one that names your server, proxied, and run the command again.`,
    );
  if (!records.some(({ proxied }) => proxied))
    throw new OperatorError(
      `The DNS record of ${host} is not proxied, so its visitors do not pass Cloudflare. Set it to "Proxied" in the dashboard, and run the command again.`,
    );
  return null;
}

/** From the nearest to that of the whole zone. */
function wildcardsOver(host: string, zone: Zone): string[] {
  const labels = host.split('.');
  const levels = labels.length - zone.name.split('.').length;
  return Array.from({ length: levels }, (_, at) => `*.${labels.slice(at + 1).join('.')}`);
}

/**
 * Where the login may not read DNS records, public DNS is asked: the usual login of wrangler may not.
 * @throws OperatorError when another Worker or another record has the host.
 * @returns whether it is this service's, and a warning when nobody has read the records.
 */
export async function checkServiceHost(
  api: CloudflareApi,
  world: PublicDns,
  zone: Zone,
  host: string,
  service: string,
): Promise<{ isOwn: boolean; warning: string | null }> {
  const taken = (await domainsOf(api, zone.accountId, `hostname=${encodeURIComponent(host)}`)).find(
    ({ hostname }) => hostname === host,
  );
  if (taken?.service === service) return { isOwn: true, warning: null };
  if (taken !== undefined)
    throw new OperatorError(
      `${host} is the domain of the Worker ${taken.service ?? 'of another kind'}. Choose another host with --service-host.`,
    );
  const records = await recordsOf(api, zone, host).catch((error: unknown) => {
    if (error instanceof ApiError && error.isForbidden) return null;
    throw error;
  });
  if (records === null) {
    const isPublic = await world.isInPublicDns(host);
    if (isPublic !== false)
      throw new OperatorError(
        `${isPublic === null ? `Nobody can check whether ${host} has a DNS record` : `${host} is in public DNS already`}, and the service would replace its record. Choose another host with --service-host, or set CLOUDFLARE_API_TOKEN to a token with the permission "Zone, DNS: Read".`,
      );
    return {
      isOwn: false,
      warning: `The login may not read DNS records. ${host} is not in public DNS, so it counts as free.`,
    };
  }
  if (records.length > 0)
    throw new OperatorError(
      `${host} has a DNS record already, which the service would replace. Choose another host with --service-host, or delete the record.`,
    );
  return { isOwn: false, warning: null };
}

export function domainsOf(
  api: CloudflareApi,
  accountId: string,
  query: string,
): Promise<z.infer<typeof domainShape>[]> {
  return api.list(domainShape, `/accounts/${accountId}/workers/domains?${query}`);
}

export const routePattern = (host: string): string => `${host}/*`;

export function routesOf(api: CloudflareApi, zoneId: string): Promise<Route[]> {
  return api.list(routeShape, `/zones/${zoneId}/workers/routes`);
}

function recordsOf(api: CloudflareApi, zone: Zone, name: string): Promise<z.infer<typeof recordShape>[]> {
  return api
    .list(recordShape, `/zones/${zone.id}/dns_records?name=${encodeURIComponent(name)}`)
    .then((all) => all.filter((record) => record.name === name && ['A', 'AAAA', 'CNAME'].includes(record.type)));
}

/**
 * @throws OperatorError when another Worker has the gate's route, or loses the site's requests to a new gate.
 * @returns warnings about the routes that may lead past the gate.
 */
export function checkRoute(routes: readonly Route[], host: string, edge: string): string[] {
  const hasGate = routes.some(({ pattern, script }) => pattern === routePattern(host) && script === edge);
  const warnings: string[] = [];
  for (const route of routes.filter(({ pattern, script }) => script !== edge && covers(pattern, host))) {
    const { scheme, hostPart, path } = partsOf(route.pattern);
    if (hostPart === host && path === '/*')
      throw new OperatorError(
        `The route ${route.pattern} belongs to ${owner(route)}${scheme === '' ? '' : ", and it is more specific than the gate's"}. Remove that route in the dashboard (Workers Routes of the zone), and run the command again.`,
      );
    if (hostPart === host)
      warnings.push(
        `The route ${route.pattern} ${ofWorker(route)} is longer than the gate's, so its requests do not pass the gate.`,
      );
    else if (route.script && !hasGate)
      throw new OperatorError(
        `The route ${route.pattern} brings requests for ${host} to the Worker ${route.script}, and the gate would take its place. Give that Worker a route without ${host} in the dashboard (Workers Routes of the zone), and run the command again.`,
      );
    else if (path !== '/*')
      warnings.push(`The route ${route.pattern} ${ofWorker(route)} may be preferred to the gate's for its requests.`);
  }
  return warnings;
}

/**
 * A route comes before a custom domain, so it may hide the service.
 * @throws OperatorError unless the service runs already: then it is a warning.
 */
export function checkServiceRoute(routes: readonly Route[], host: string, service: string, runs: boolean): string[] {
  const hiding = routes.filter(({ pattern, script }) => script !== service && covers(pattern, host));
  if (hiding[0] !== undefined && !runs)
    throw new OperatorError(
      `The route ${hiding[0].pattern} of the zone belongs to ${owner(hiding[0])}, and it covers ${host}, where the service would run. Choose another host with --service-host, or remove that route in the dashboard.`,
    );
  return hiding.map(
    (route) => `The route ${route.pattern} ${ofWorker(route)} covers ${host} and may hide the service.`,
  );
}

const owner = ({ script }: Route): string => (script ? `the Worker ${script}` : 'no Worker, which exempts it');
const ofWorker = ({ script }: Route): string => (script ? `of the Worker ${script}` : 'without a Worker');

function partsOf(pattern: string): { scheme: string; hostPart: string; path: string } {
  const [, scheme = '', rest = ''] = /^([a-z*]+:\/\/)?(.*)$/is.exec(pattern) ?? [];
  const slash = rest.indexOf('/');
  const hostPart = (slash < 0 ? rest : rest.slice(0, slash)).toLowerCase();
  // Without a path, a star at the end of the host stands for every path too.
  return { scheme, hostPart, path: slash >= 0 ? rest.slice(slash) : hostPart.endsWith('*') ? '/*' : '/' };
}

/** Whether some request for the host matches. A pattern has stars only at its beginning and its end. */
function covers(pattern: string, host: string): boolean {
  const { hostPart } = partsOf(pattern);
  const hasBefore = hostPart.startsWith('*');
  const hasAfter = hostPart.endsWith('*');
  const fixed = hostPart.replace(/^\*/, '').replace(/\*$/, '');
  if (hasBefore && hasAfter) return host.includes(fixed);
  if (hasBefore) return host.endsWith(fixed);
  return hasAfter ? host.startsWith(fixed) : host === fixed;
}

const ANSWERS_WITHIN_MS = 5_000;
const ATTEMPTS = 2;
/** Codes for a name, or a record of this type, that does not exist. */
const NOT_THERE = new Set(['ENOTFOUND', 'ENODATA']);

export interface PublicDns {
  /** `null` where DNS does not answer. */
  isInPublicDns(host: string): Promise<boolean | null>;
}

/**
 * What public DNS says: a login that may not read the records of a zone has no other way to look.
 * @returns whether the host has an address or an alias; `null` when no server answered.
 */
export async function isInPublicDns(host: string): Promise<boolean | null> {
  const resolver = new Resolver({ timeout: ANSWERS_WITHIN_MS, tries: ATTEMPTS });
  const asked = [resolver.resolve4(host), resolver.resolve6(host), resolver.resolveCname(host)];
  const answers = await Promise.allSettled(asked);
  if (answers.some((answer) => answer.status === 'fulfilled' && answer.value.length > 0)) return true;
  const isCertain = answers.every(
    (answer) => answer.status === 'fulfilled' || NOT_THERE.has((answer.reason as NodeJS.ErrnoException).code ?? ''),
  );
  return isCertain ? false : null;
}
