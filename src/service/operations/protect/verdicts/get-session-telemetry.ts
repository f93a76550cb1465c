/**
 * `POST /protect/session-telemetry`: what is known about one session, from its verdicts and from the reports of the
 * protect script.
 */
import { sessionRequest, sessionTelemetryResponse } from '../../../../contract/management/verdict-query.ts';
import type { VerdictRecord } from '../../../../contract/edge/verdict-record.ts';
import { decisions } from '../../../../contract/vocabulary.ts';
import type { Counts } from '../../../../store/event-log/shard-rpc.ts';
import { sessionReports, telemetryLogOf } from '../../../../store/event-log/client/telemetry-log.ts';
import { operation } from '../../define-operation.ts';
import { readRisk } from '../../../../store/risk-book/client/session-risk.ts';
import { outcomeCounts } from './outcome-counts.ts';
import { factsOfSession } from './session-facts.ts';
import { sessionVerdicts } from './session-verdicts.ts';
import { logTarget } from './verdict-log-query.ts';

/** Of a session with more requests, only the newest ones are summarised. */
const VERDICTS_MAX = 10_000;

export const getSessionTelemetry = operation({
  name: 'get-session-telemetry',
  method: 'POST',
  path: '/protect/session-telemetry',
  feature: 'Protect',
  permission: 'updateProtectSettings',
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
});

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
