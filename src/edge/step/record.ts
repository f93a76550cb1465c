/**
 * The one record of a request, made at the end from the step that was carried out. Texts are bounded, so that a hostile
 * visitor's header or path does not make a row large.
 */
import { ownText } from '../../bytes/bounded-map.ts';
import {
  RECORD_FIRED_RULES_MAX,
  RECORD_NAME_MAX_CHARS,
  RECORD_TEXT_MAX_CHARS,
  VERDICT_RECORD_VERSION,
} from '../../contract/edge/record-bounds.ts';
import type { VerdictRecord } from '../../contract/edge/verdict-record.ts';
import { explainRecord } from '../../rules/explain.ts';
import { recordInputsOf } from '../../rules/record-inputs.ts';
import type { BotSignal } from '../../bots/bot-proof.ts';
import type { Step } from './step.ts';
import type { Verdict } from '../../decide/verdict.ts';

/** A step and what came of it. */
export interface StepOutcome {
  step: Step;
  response: Response;
  /** `null`: the origin was not called, or did not respond. */
  originMs: number | null;
}

export interface RecordSource {
  instanceId: string;
  version: string;
  isolate: string;
  seq: number;
}

/** A record's host and path are cut out of the address. Of a longer address they are copied. */
const ADDRESS_MAX_CHARS = 512;

export function recordOf({ step, response, originMs }: StepOutcome, from: RecordSource): VerdictRecord {
  const { facts, path, verdict, config, jti, rulesetVersion } = step.context;
  const { requestId, headers, target, signals, nowMs } = facts;
  const cut = target.received.length > ADDRESS_MAX_CHARS ? ownText : (text: string) => text;
  const record: VerdictRecord = {
    v: VERDICT_RECORD_VERSION,
    id: requestId,
    request_id: requestId,
    timestamp: nowMs,
    instance_id: from.instanceId,
    site_key: config?.siteKey ?? 'unknown',
    jti,
    ip: signals.ip,
    ip_category: [...signals.ipCategories],
    country: signals.countryCode,
    asn: signals.asn,
    ja4: signals.ja4,
    user_agent: bounded(signals.userAgent),
    bot: recordedBot(verdict.bot),
    device_type: signals.deviceType,
    method: headers.method,
    host: cut(target.host),
    request_path: cut(bounded(target.path)),
    path_type: path?.pathType ?? 'html',
    decision: verdict.decision,
    source: verdict.source,
    decided_by: bounded(verdict.decidedBy, RECORD_NAME_MAX_CHARS),
    fired_rules: firedRules(verdict),
    inputs: verdict.inputs === null ? undefined : recordInputsOf(verdict.inputs),
    explain: verdict.explain ?? undefined,
    enforcement_policy: verdict.enforcementPolicy,
    session_status: verdict.sessionStatus,
    verified: step.tokenVerified,
    level: verdict.level,
    risk_score: verdict.riskScore,
    status: response.status,
    origin_ms: originMs,
    ruleset_version: rulesetVersion,
    edge: { colo: signals.colo, version: from.version, isolate: from.isolate, seq: from.seq },
  };
  return config === null || config.takesInputs ? record : withSentence(record);
}

/** For a log that does not take `inputs`: an older service, or one of others. */
function withSentence({ inputs, ...record }: VerdictRecord): VerdictRecord {
  return { ...record, explain: explainRecord({ ...record, inputs }) };
}

/** A signal may carry more than the record keeps. */
function recordedBot(bot: BotSignal | null): VerdictRecord['bot'] {
  return bot === null ? null : { id: bot.id, behaviours: [...bot.behaviours], proof: bot.proof };
}

const NO_RULES: VerdictRecord['fired_rules'] = [];

function firedRules({ firedRules: fired }: Verdict): VerdictRecord['fired_rules'] {
  if (fired.length === 0) return NO_RULES;
  return fired
    .slice(0, RECORD_FIRED_RULES_MAX)
    .map((rule) => ({ id: rule.id, verdict: rule.verdict, mode: rule.mode }));
}

/** Cuts between characters, never inside one. */
function bounded(text: string, maxChars = RECORD_TEXT_MAX_CHARS): string {
  return text.length <= maxChars ? text : ownText(text.slice(0, maxChars)).replace(/[\ud800-\udbff]$/, '');
}
