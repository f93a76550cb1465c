/**
 * Requests in the form that policies see. Of a request that a caller describes, what is not given is what a plain
 * visitor has: no cookies, no session, no risk; device and bot follow from the user agent and the address, as at the
 * edge. Of a logged request, headers, cookies and query are unknown, because the log does not keep them.
 */
import { hostName } from '../../../../address/host-name.ts';
import { type PathReading, readPath } from '../../../../bytes/url-path.ts';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { botAndAgent, type PolicyRequest } from '../../../../policies/request.ts';
import * as z from 'zod/mini';
import { canonicalIp } from '../../../../address/ip.ts';
import { deviceType } from '../../../../address/device-type.ts';
import { ipCategories, pathTypes, sessionStatuses } from '../../../../contract/vocabulary.ts';
import type { StoredInstance } from '../../../../store/d1/instances.ts';
import { accountBotTable } from '../../../bots/account-bot-table.ts';
import type { OperationContext } from '../../define-operation.ts';
import { OperationError } from '../../operation-error.ts';
import { botQuestion, explainedBot, describedVisitor, visitorSignals } from '../access-rules/described-visitor.ts';

export const unloggedFields = ['header', 'cookie', 'query'] as const;

export function loggedRequest(record: VerdictRecord): PolicyRequest {
  return {
    host: hostName(record.host),
    method: record.method,
    paths: pathsOf(record.request_path),
    query: undefined,
    headers: undefined,
    cookie: undefined,
    ip: record.ip,
    asn: record.asn,
    country: record.country,
    ja4: record.ja4,
    userAgent: record.user_agent,
    deviceType: record.device_type,
    ...botAndAgent(record.bot ?? null),
    ipCategories: record.ip_category,
    sessionStatus: record.session_status,
    riskScore: record.risk_score,
    pathType: record.path_type,
  };
}

/** The path, and the others that an origin could read it as. */
export function pathsOf(received: string): PolicyRequest['paths'] {
  const { path, readings } = readLoggedPath(received);
  return readings && [path, ...readings];
}

/** To list the readings of a hostile path takes a millisecond, and one request is asked for them several times. */
let lastRead: { received: string; reading: PathReading } | null = null;

/** An edge may log anything as a path. */
export function readLoggedPath(received: string): PathReading {
  if (lastRead?.received === received) return lastRead.reading;
  const reading = received.startsWith('/') ? readPath(received) : { path: received, ambiguous: true, readings: [] };
  lastRead = { received, reading };
  return reading;
}

const HEADERS_MAX = 100;
/** As a visitor would send it: `URL` resolves its dots. */
const PATH = /^https?:\/\/[^/\\?#]*[/\\]([^?#]*)/i;
const { userAgent: _userAgent, countryCode: _countryCode, ...signals } = visitorSignals;

export const givenRequest = z.strictObject({
  /** With host, path and query. */
  url: z.string().check(z.maxLength(8192)),
  method: z._default(z.string().check(z.regex(/^[A-Z]{1,16}$/)), 'GET'),
  /** By name; cookies and user agent among them. */
  headers: z._default(
    z
      .record(z.string().check(z.maxLength(128)), z.string().check(z.maxLength(16_384)))
      .check(z.refine((headers) => Object.keys(headers).length <= HEADERS_MAX, `must be at most ${HEADERS_MAX}`)),
    {},
  ),
  ...signals,
  country: visitorSignals.countryCode,
  bot: botQuestion.bot,
  ipCategories: z._default(z.array(z.enum(ipCategories)).check(z.maxLength(ipCategories.length)), []),
  sessionStatus: z._default(z.enum(sessionStatuses), 'none'),
  riskScore: z.optional(z.number().check(z.gte(0), z.lte(1))),
  /** Default: the instance's `defaultPathType`. */
  pathType: z.optional(z.enum(pathTypes)),
});
type GivenRequest = z.infer<typeof givenRequest>;

/** @throws OperationError 400 for a request that cannot be. */
export async function describedRequest(
  { store, nowMs }: Pick<OperationContext<unknown>, 'store' | 'nowMs'>,
  instance: StoredInstance,
  given: GivenRequest,
): Promise<PolicyRequest> {
  const url = URL.parse(given.url);
  if (url === null || !/^https?:$/.test(url.protocol)) throw bad('url', 'must be an address with http or https');
  const headers = headersOf(given.headers);
  const userAgent = headers.get('user-agent') ?? '';
  const { country: countryCode, ip, asn, ja4 } = given;
  const facts = describedVisitor({ ip, asn, ja4, countryCode, userAgent });
  const table = await accountBotTable(store, instance.accountId, nowMs);
  const asked = { ...(given.bot === undefined ? {} : { bot: given.bot }), path: url.pathname };
  const { bot } = explainedBot(asked, facts, table, instance.botPolicy);
  return {
    host: url.hostname,
    method: given.method,
    paths: pathsOf(`/${PATH.exec(given.url)?.[1] ?? ''}`),
    query: url.search,
    headers,
    cookie: headers.get('cookie'),
    ip: facts.ip === null ? null : canonicalIp(facts.ip),
    asn: facts.asn,
    country: facts.countryCode,
    ja4: facts.ja4,
    userAgent,
    deviceType: deviceType(userAgent, headers.get('sec-ch-ua-mobile')),
    ...botAndAgent(bot && { id: bot.id, behaviours: bot.behaviours, proof: bot.proof }),
    ipCategories: given.ipCategories,
    sessionStatus: given.sessionStatus,
    riskScore: given.riskScore ?? null,
    pathType: given.pathType ?? instance.defaultPathType,
  };
}

function headersOf(given: GivenRequest['headers']): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(given)) {
    try {
      headers.append(name, value);
    } catch {
      throw bad(`headers.${name.slice(0, 128)}`, 'is no header that a request can have');
    }
  }
  return headers;
}

function bad(field: string, message: string): OperationError {
  return new OperationError('API.INVALID_BODY', 'No request is like this', [{ path: `request.${field}`, message }]);
}
