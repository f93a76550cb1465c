/** What each field of Cloudflare's Rules language is in a policy. Fields that are not here have no counterpart. */
import type { Condition, Subject } from '../condition.ts';

/** Texts that a request has once. */
export const textFields: Readonly<Record<string, Subject>> = {
  'http.host': { field: 'host' },
  'http.request.uri.path': { field: 'path' },
  'raw.http.request.uri.path': { field: 'path' },
  'http.request.method': { field: 'method' },
  'http.user_agent': { field: 'userAgent' },
  'http.referer': { field: 'header', name: 'referer' },
  'http.x_forwarded_for': { field: 'header', name: 'x-forwarded-for' },
  'http.cookie': { field: 'header', name: 'cookie' },
  'ip.src.country': { field: 'country' },
  'ip.geoip.country': { field: 'country' },
  'cf.bot_management.ja4': { field: 'ja4' },
};

/** Texts by name, each of them a list: `map["name"][0]`, `any(map["name"][*] eq "…")`. */
export const textMaps: Readonly<Record<string, 'header' | 'cookie' | 'query'>> = {
  'http.request.headers': 'header',
  'http.request.cookies': 'cookie',
  'http.request.uri.args': 'query',
};

/** Lists of the names of such a map. */
export const nameLists: Readonly<Record<string, 'header' | 'cookie' | 'query'>> = {
  'http.request.headers.names': 'header',
  'http.request.cookies.names': 'cookie',
  'http.request.uri.args.names': 'query',
};

export const addressFields: readonly string[] = ['ip.src'];
export const asnFields: readonly string[] = ['ip.src.asnum', 'ip.geoip.asnum'];
export const EXTENSION_FIELD = 'http.request.uri.path.extension';

const provedBot: Condition = { field: 'bot', name: 'proof', operator: 'in', value: ['range', 'dns', 'signature'] };

/** Fields that are true or false. */
export const flagFields: Readonly<Record<string, { condition: Condition; difference: string }>> = {
  'cf.client.bot': {
    condition: provedBot,
    difference: 'verified bots are those of Gatehouse, not those of Cloudflare',
  },
  'cf.bot_management.verified_bot': {
    condition: provedBot,
    difference: 'verified bots are those of Gatehouse, not those of Cloudflare',
  },
};

/** Why fields without a counterpart have none, by the beginning of their names. */
const reasons: readonly (readonly [string, string])[] = [
  ['http.request.uri.query', 'a policy compares single query parameters, as in query["name"]'],
  ['http.request.uri', 'a policy compares the path and single query parameters, never both as one text'],
  ['http.request.full_uri', 'a policy compares host and path, never both as one text'],
  ['raw.', 'a policy has no other raw text than the path'],
  ['http.request.body', 'a policy does not read the body'],
  ['http.response', 'a policy decides before the origin answers'],
  ['cf.bot_management.score', "Cloudflare's score is not Gatehouse's; riskScore has another scale"],
  ['cf.threat_score', "Cloudflare's score is not Gatehouse's; riskScore has another scale"],
  ['cf.waf', "Cloudflare's managed rules and scores are not here"],
  ['cf.verified_bot_category', 'Cloudflare and Gatehouse sort bots otherwise; see bot["behaviour"]'],
  ['ip.src.continent', 'a policy has countries; list them'],
  ['ip.geoip.continent', 'a policy has countries; list them'],
  ['ip.src.is_in_european_union', 'a policy has countries; list them'],
  ['ip.geoip.is_in_european_union', 'a policy has countries; list them'],
  ['ssl', 'a policy does not know the scheme'],
];

export function reasonWithout(field: string): string {
  const known = reasons.find(([start]) => field === start || field.startsWith(start));
  return `${field.slice(0, 60)} has no counterpart${known ? `: ${known[1]}` : ''}`;
}
