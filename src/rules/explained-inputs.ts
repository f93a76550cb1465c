/**
 * From the explanation in a verdict record back to the inputs that it was written for. The record has the rules that
 * fired, limits among them, and the bot's name, but category, risk and policy only in this sentence. The candidates that the record allows are explained again,
 * and the one with the same sentence is it: the writer is the only definition of the text.
 */
import { decisions } from '../contract/vocabulary.ts';
import type { BotProof, Decision } from '../contract/vocabulary.ts';
import { decide } from './decision-table.ts';
import type { DecideInputs } from './decision-table.ts';
import { explainVerdict } from './explain.ts';
import type { MatchedRule } from './types.ts';

export interface Explained {
  explain: string;
  /** The enforced network rule that counted. */
  network: MatchedRule | null;
  /** Of equally restrictive client rules, the first one that matched counted; the record may list them otherwise. */
  clients: readonly MatchedRule[];
  bot: { id: string; proof: BotProof } | null;
  categories: readonly string[];
  riskScore: number | null;
  /** The enforced limits that fired. */
  limits: readonly NonNullable<DecideInputs['limit']>[];
  rulesetVersion: number;
}

type InputsBelow = Omit<DecideInputs, 'network' | 'client'>;

/** What follows the inputs in an explanation. */
const afterInputs = ['; also fired ', '; ruleset version '];
const POLICY = /policy (.{1,80}?)(?= \((?:allow|challenge|block)\)|; (?:over|lifted|also fired|ruleset version) )/gs;

/** `null`: the sentence is not one of the decision table's, or names a rule that the record does not have. */
export function explainedInputs(said: Explained): DecideInputs | null {
  const { explain, network, rulesetVersion } = said;
  const clients = said.clients.length === 0 ? [null] : said.clients;
  let found: DecideInputs | null = null;
  let longest = -1;
  for (const client of clients) {
    for (const below of candidatesBelow(said)) {
      const inputs = { network, client, ...below };
      const head = headOf(inputs, rulesetVersion);
      if (head.length <= longest || !explain.startsWith(head)) continue;
      if (!afterInputs.some((next) => explain.startsWith(next, head.length))) continue;
      found = inputs;
      longest = head.length;
    }
  }
  return found;
}

/** Every combination that the sentence could be about, of the inputs below the rules. */
function* candidatesBelow({ explain, bot: named, categories, riskScore, limits }: Explained): Generator<InputsBelow> {
  for (const bot of botCandidates(named))
    for (const category of categoryCandidates(explain, categories))
      for (const risk of riskCandidates(explain, riskScore))
        for (const limit of limitCandidates(explain, limits))
          for (const policy of policyCandidates(explain)) yield { bot, category, risk, limit, policy };
}

/** The explanation without the rules that only fired, up to its inputs. */
function headOf(inputs: DecideInputs, rulesetVersion: number): string {
  const match = { network: inputs.network, client: inputs.client, fired: [] };
  const text = explainVerdict({ match, inputs, outcome: decide(inputs), rulesetVersion });
  return text.slice(0, -`; ruleset version ${rulesetVersion}.`.length);
}

function botCandidates(bot: Explained['bot']): DecideInputs['bot'][] {
  return bot === null ? [null] : [null, ...everyDecision((verdict) => ({ verdict, id: bot.id, proof: bot.proof }))];
}

function categoryCandidates(explain: string, categories: readonly string[]): DecideInputs['category'][] {
  const named = categories.filter((category) => explain.includes(`address category ${category}`));
  return [null, ...named.flatMap((category) => everyDecision((verdict) => ({ verdict, category })))];
}

function riskCandidates(explain: string, score: number | null): DecideInputs['risk'][] {
  if (score === null || !explain.includes(`risk score ${score.toFixed(2)}`)) return [null];
  return [null, ...everyDecision((verdict) => ({ verdict, score }))];
}

function limitCandidates(explain: string, limits: Explained['limits']): DecideInputs['limit'][] {
  return [null, ...limits.filter(({ name }) => explain.includes(`limit ${name}`))];
}

/** Rules may contain such words too. What follows the last one is at the end of its list, where a policy is. */
function policyCandidates(explain: string): DecideInputs['policy'][] {
  const reasons = new Set([...explain.matchAll(POLICY)].map((match) => match[1] as string));
  return [null, ...[...reasons].flatMap((reason) => everyDecision((verdict) => ({ verdict, reason })))];
}

function everyDecision<T>(made: (verdict: Decision) => T): T[] {
  return decisions.map(made);
}
