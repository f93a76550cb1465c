/**
 * The inputs of the decision table in a verdict record, and back. The record holds what was decided from, and no sentence
 * about it: readers write the sentence (`explain.ts`), and previews apply the table again.
 */
import { RECORD_NAME_MAX_CHARS } from '../contract/edge/record-bounds.ts';
import type { RecordInputs, VerdictRecord } from '../contract/edge/verdict-record.ts';
import type { EdgeRuleType } from '../contract/vocabulary.ts';
import type { DecideInputs } from './decision-table.ts';

export function recordInputsOf(inputs: DecideInputs): RecordInputs {
  const { network, client, bot, category, risk, limit, policy } = inputs;
  const recorded: RecordInputs = {};
  if (network) recorded.network = { verdict: network.verdict, id: bounded(network.id), type: network.type };
  if (client) recorded.client = { verdict: client.verdict, id: bounded(client.id) };
  if (bot) recorded.bot = { verdict: bot.verdict };
  if (category) recorded.category = { verdict: category.verdict, category: category.category };
  if (risk) recorded.risk = { verdict: risk.verdict };
  if (limit) recorded.limit = { verdict: limit.verdict, name: bounded(limit.name) };
  if (policy) recorded.policy = { verdict: policy.verdict, reason: bounded(policy.reason) };
  return recorded;
}

/** `null`: no table was applied, or an older edge did not record what it was applied to. */
export function inputsOfRecord(record: Pick<VerdictRecord, 'inputs' | 'bot' | 'risk_score'>): DecideInputs | null {
  if (!record.inputs) return null;
  const { network, client, bot, category, risk, limit, policy } = record.inputs;
  return {
    network: network ? { id: network.id, type: network.type, verdict: network.verdict, mode: 'enforce' } : null,
    client: client ? { id: client.id, type: clientType(client.id), verdict: client.verdict, mode: 'enforce' } : null,
    bot: bot && record.bot ? { verdict: bot.verdict, id: record.bot.id, proof: record.bot.proof } : null,
    category: category ?? null,
    risk: risk ? { verdict: risk.verdict, score: record.risk_score ?? 0 } : null,
    limit: limit ?? null,
    policy: policy ?? null,
  };
}

/** Lists have no client rules. */
const clientType = (id: string): EdgeRuleType => (id.startsWith('ja4Hash:') ? 'ja4Hash' : 'userAgent');

/** Cuts between characters, never inside one. */
function bounded(name: string): string {
  if (name.length <= RECORD_NAME_MAX_CHARS) return name;
  return name.slice(0, RECORD_NAME_MAX_CHARS).replace(/[\ud800-\udbff]$/, '');
}
