/** Sessions of an instance, as its risk books and its logs have them. */
import {
  riskHistoryResponse,
  type sessionFacts,
  sessionRequest,
  sessionTelemetryResponse,
} from '../../../../contract/management/verdict-query.ts';
import { detectors } from '../../../../risk/detectors.ts';
import { riskParts } from '../../../../risk/session-score.ts';
import type { SessionState } from '../../../../risk/session-state.ts';
import * as z from 'zod/mini';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { everything } from '../../../../store/event-log/row-filter.ts';
import { readPage } from '../../../../store/event-log/client/verdict-page.ts';
import type { RowKey } from '../../../../store/event-log/log-row.ts';
import { type LogTarget, logTarget, requiredIp } from './verdict-log-query.ts';
import type { ServiceStore } from '../../../environment.ts';
import { sessionListRequest, sessionListResponse } from '../../../../contract/management/session-query.ts';
import { listSessions } from '../../../../store/risk-book/client/session-books.ts';
import type { ListedSession, SessionPlace } from '../../../../store/risk-book/rpc.ts';
import { instanceOfCall } from '../chosen-instance.ts';
import { type Operation, protectOperation } from '../../define-operation.ts';
import { jsonCursor, readJsonCursor } from '../../pages.ts';
import { decisions } from '../../../../contract/vocabulary.ts';
import type { Counts } from '../../../../store/event-log/shard-rpc.ts';
import { sessionReports, telemetryLogOf } from '../../../../store/event-log/client/telemetry-log.ts';
import { endSession, readRisk } from '../../../../store/risk-book/client/session-risk.ts';
import { outcomeCounts } from './outcome-counts.ts';
import { detectorsOf } from '../../../../contract/edge/risk-detectors.ts';
import { captchaLog } from '../../../../store/event-log/client/captcha-log.ts';
import { eraseSession } from '../../../../store/event-log/client/verdict-log.ts';

type Facts = z.infer<typeof sessionFacts>;

/** A stored session in the form that the API returns. */
function factsOfSession(session: Omit<SessionState, 'history'>): Facts {
  const { telemetry } = session;
  return {
    opened_at: session.openedAt,
    expires_at: session.expiresAt,
    updated_at: session.updatedAt,
    risk_score: session.score,
    parts: riskParts(session.detectors).map((part) => ({ ...part, says: detectors[part.detector].compares })),
    renewals: session.renewals,
    address_changes: session.addressChanges,
    user_agent_changes: session.userAgentChanges,
    idle_sessions_of_network: session.idleSessions,
    requests_per_minute: session.requestsPerMinute,
    reports: telemetry.reports,
    implausible_reports: telemetry.implausible,
    interacted: telemetry.interacted,
    traits: [...telemetry.traits],
  };
}

const PAGE_ROWS = 1000;

interface SessionVerdicts {
  records: VerdictRecord[];
  /** Of the whole session, including those beyond the limit. */
  total: number;
}

/** Every verdict of one session, newest first, up to a limit. */
async function sessionVerdicts(
  store: ServiceStore,
  target: LogTarget,
  jti: string,
  rowsMax: number,
): Promise<SessionVerdicts> {
  const filter = { ...everything, since: target.horizon, jti };
  const records: VerdictRecord[] = [];
  let before: RowKey | null = null;
  let total = 0;
  do {
    const limit = Math.min(PAGE_ROWS, rowsMax - records.length);
    const page = await readPage(store, target.log, { filter, before, offset: 0, limit, wantTotal: before === null });
    if (before === null) total = page.total;
    records.push(...page.rows.map(({ body }) => JSON.parse(body) as VerdictRecord));
    before = page.next;
  } while (before !== null && records.length < rowsMax);
  return { records, total };
}

/** Of each of the sixteen books, for one page: about 20 ms of work. */
const EXAMINED_MAX = 4000;

/** Of a session with more requests, only the newest ones are summarised. */
const VERDICTS_MAX = 10_000;

const HISTORY_MAX = 1000;

export const sessionOperations: readonly Operation[] = [
  /**
   * The sessions of an instance, newest first, as its risk books have them: who opened them, their risk and its parts.
   * Their requests are in the verdict log.
   */
  protectOperation({
    name: 'list-sessions',
    path: '/protect/sessions',
    access: 'read',
    summary: 'List the sessions of visitors',
    body: sessionListRequest,
    response: sessionListResponse,
    async handler(context) {
      const { siteKey, cursor, minRisk, ip, since, limit } = context.body;
      const before = cursor === undefined ? null : readPlace(cursor);
      const query = {
        minRisk: minRisk ?? 0,
        since: since ?? 0,
        ip: ip === undefined ? null : requiredIp(ip),
        before,
        limit,
        examinedMax: EXAMINED_MAX,
      };
      const instance = await instanceOfCall(context, siteKey);
      const { sessions, next } = await listSessions(context.store, instance.id, query, context.nowMs);
      return { sessions: sessions.map(listed), nextCursor: next && jsonCursor([next.at, next.jti]) };
    },
  }),
  /** What is known about one session, from its verdicts and from the reports of the protect script. */
  protectOperation({
    name: 'get-session-telemetry',
    path: '/protect/session-telemetry',
    access: 'read',
    summary: 'Telemetry for one session',
    body: sessionRequest,
    response: sessionTelemetryResponse,
    async handler(context) {
      const { jti, siteKey } = context.body;
      const target = await logTarget(context, siteKey);
      const [{ records }, reports, session] = await Promise.all([
        sessionVerdicts(context.store, target, jti, VERDICTS_MAX),
        sessionReports(context.store, telemetryLogOf(target.instance), jti, target.horizon),
        readRisk(context.store, target.instance.id, jti),
      ]);
      return {
        jti,
        ...describe(records),
        session: session === null ? null : factsOfSession(session),
        telemetry: reports.map(({ timestamp, report }) => ({ timestamp, report })),
      };
    },
  }),
];

/**
 * The risk score of one session, request by request with the rules that fired, and every change of the score with its
 * parts and its cause.
 */
export const getRiskHistory = protectOperation({
  name: 'get-risk-history',
  path: '/protect/risk-history',
  access: 'read',
  summary: 'Risk score history for one session',
  body: sessionRequest,
  response: riskHistoryResponse,
  async handler(context) {
    const { jti, siteKey } = context.body;
    const target = await logTarget(context, siteKey);
    const [{ records, total }, session] = await Promise.all([
      sessionVerdicts(context.store, target, jti, HISTORY_MAX),
      readRisk(context.store, target.instance.id, jti),
    ]);
    const scores = records.map(({ risk_score }) => risk_score).filter((score) => score !== null);
    return {
      jti,
      scores: (session?.history ?? []).map(({ at, score, detectors: bits, ignored, cause }) => ({
        timestamp: at,
        risk_score: score,
        cause,
        parts: riskParts(bits),
        ignored: detectorsOf(ignored),
      })),
      history: records.toReversed().map((record) => ({
        timestamp: record.timestamp,
        id: record.id,
        request_id: record.request_id,
        risk_score: record.risk_score,
        decision: record.decision,
        source: record.source,
        decided_by: record.decided_by,
        request_path: record.request_path,
        fired_rules: record.fired_rules.map(({ id }) => id),
      })),
      latest_risk_score: session?.score ?? scores[0] ?? null,
      highest_risk_score: highest([...scores, ...(session?.history ?? []).map(({ score }) => score)]),
      total,
    };
  },
});

/**
 * Ends a session, so that nothing more is stored under it, deletes its risk, and removes every verdict, report and
 * captcha of it, from sealed segments and from the counts too. The jti of a single captcha erases that captcha.
 */
export const eraseSessionOperation = protectOperation({
  name: 'erase-session',
  path: '/protect/sessions/erase',
  access: 'write',
  summary: 'End one session and erase everything that is stored about it',
  body: sessionRequest,
  response: z.object({ jti: z.string(), erased: z.int() }),
  async handler(context) {
    const { jti, siteKey } = context.body;
    const { log, instance } = await logTarget(context, siteKey);
    await endSession(context.store, instance, jti, context.nowMs);
    const [verdicts, captchas] = await Promise.all(
      [log, captchaLog(instance.accountId), telemetryLogOf(instance)].map((one) =>
        eraseSession(context.store, one, jti),
      ),
    );
    return { jti, erased: (verdicts ?? 0) + (captchas ?? 0) };
  },
});

function listed({ jti, state }: ListedSession): object {
  return {
    jti,
    ...factsOfSession(state),
    user_agent: state.userAgent,
    network: state.network,
    addresses: state.addresses,
    ip_category: state.categories,
  };
}

const place = z.tuple([z.int().check(z.gte(0)), z.string().check(z.minLength(1), z.maxLength(256))]);

function readPlace(cursor: string): SessionPlace {
  const [at, jti] = readJsonCursor(place, cursor);
  return { at, jti };
}

/** The records are newest first, and so is each list in the result. */
function describe(records: readonly VerdictRecord[]): object {
  const counts: Counts = [0, 0, 0];
  const rules = new Map<string, number>();
  for (const record of records) {
    counts[decisions.indexOf(record.decision) as 0 | 1 | 2]++;
    for (const id of new Set(record.fired_rules.map((rule) => rule.id))) rules.set(id, (rules.get(id) ?? 0) + 1);
  }
  return {
    first_seen: records.at(-1)?.timestamp ?? null,
    last_seen: records[0]?.timestamp ?? null,
    requests: outcomeCounts(counts),
    ips: distinct(records, ({ ip }) => ip),
    asns: distinct(records, ({ asn }) => asn),
    countries: distinct(records, ({ country }) => country),
    user_agents: distinct(records, ({ user_agent }) => user_agent),
    ja4s: distinct(records, ({ ja4 }) => ja4),
    device_type: records[0]?.device_type ?? null,
    latest_risk_score: records.find(({ risk_score }) => risk_score !== null)?.risk_score ?? null,
    fired_rules: [...rules]
      .map(([id, verdicts]) => ({ id, verdicts }))
      .sort((a, b) => b.verdicts - a.verdicts || (a.id < b.id ? -1 : 1)),
  };
}

function distinct<T>(records: readonly VerdictRecord[], of: (record: VerdictRecord) => T | null): T[] {
  return [...new Set(records.map(of).filter((value) => value !== null))];
}

function highest(scores: readonly number[]): number | null {
  return scores.length === 0 ? null : Math.max(...scores);
}
