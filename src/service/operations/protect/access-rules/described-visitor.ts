/**
 * A visitor as an operator describes them to the listing, to explain and to tests of policies: their signals, checked
 * as strictly as the value of a rule, and their bot.
 */
import * as z from 'zod/mini';
import { canonicalValue } from '../../../../rules/canonical.ts';
import { parseIp } from '../../../../address/ip.ts';
import { foldCase } from '../../../../rules/user-agent-fold.ts';
import {
  type BotAction,
  botActions,
  botBehaviours,
  botProofs,
  type EdgeRuleType,
} from '../../../../contract/vocabulary.ts';
import type { RuleKey } from '../../../../store/rule-book/rule-row.ts';
import { OperationError } from '../../operation-error.ts';
import { type BotSignal, botSignal, proofOf, SUSPECTED_AGENT } from '../../../../bots/bot-proof.ts';
import { actionFor, botInput, compileBotRules, readsRobots } from '../../../../bots/bot-rules.ts';
import type { BotTable } from '../../../../bots/open-bot-table.ts';
import { spelledPath } from '../../../../bots/path-match.ts';
import { policyBotId, type BotPolicy } from '../../../../contract/management/bot-policy.ts';
import type { DecideInputs } from '../../../../rules/decision-table.ts';

/** The longest header that common servers accept. */
const USER_AGENT_MAX_CHARS = 16_384;
const text = z.optional(z.string().check(z.maxLength(64)));

/** Fields of the request body; each is optional. */
export const visitorSignals = {
  ip: text,
  asn: z.optional(z.union([z.string().check(z.maxLength(64)), z.int()])),
  countryCode: text,
  ja4: text,
  userAgent: z.optional(z.string().check(z.maxLength(USER_AGENT_MAX_CHARS))),
};

export interface GivenSignals {
  ip?: string | undefined;
  asn?: string | number | undefined;
  countryCode?: string | undefined;
  ja4?: string | undefined;
  userAgent?: string | undefined;
}

/** In canonical form. An absent signal is `null`; an absent user agent is empty. */
export interface DescribedVisitor {
  ip: string | null;
  asn: number | null;
  countryCode: string | null;
  ja4: string | null;
  userAgent: string;
}

/** @throws OperationError 400 that names each invalid signal. */
export function describedVisitor(given: GivenSignals): DescribedVisitor {
  const errors: { path: string; message: string }[] = [];
  const read = (path: keyof GivenSignals, type: EdgeRuleType): string | null => {
    const value = given[path];
    if (value === undefined) return null;
    const canonical = canonicalValue(type, value);
    if (canonical.ok) return canonical.value;
    errors.push({ path, message: canonical.error });
    return null;
  };
  const asn = read('asn', 'asn');
  const facts: DescribedVisitor = {
    ip: read('ip', 'ip'),
    asn: asn === null ? null : Number(asn),
    countryCode: read('countryCode', 'countryCode'),
    ja4: read('ja4', 'ja4Hash'),
    userAgent: given.userAgent ?? '',
  };
  if (errors.length > 0) throw new OperationError('API.INVALID_BODY', 'Some signals are not valid', errors);
  return facts;
}

/**
 * Keys of every rule that can match these facts, except rules for parts of the user agent. An address has one key for
 * each prefix length, so its rules are found with at most 130 look-ups, however many rules there are.
 */
export function matchingKeys(facts: DescribedVisitor): RuleKey[] {
  const keys: RuleKey[] = [];
  if (facts.ip !== null) keys.push({ type: 'ip', value: facts.ip }, ...prefixKeys(facts.ip));
  if (facts.asn !== null) keys.push({ type: 'asn', value: String(facts.asn) });
  if (facts.countryCode !== null) keys.push({ type: 'countryCode', value: facts.countryCode });
  if (facts.ja4 !== null) keys.push({ type: 'ja4Hash', value: facts.ja4 });
  return keys;
}

/** Folded like the values of user agent rules. */
export function foldedUserAgent(facts: DescribedVisitor): string {
  return foldCase(facts.userAgent);
}

function prefixKeys(ip: string): RuleKey[] {
  const bits = parseIp(ip)?.family === 6 ? 128 : 32;
  const keys: RuleKey[] = [];
  for (let length = bits; length >= 0; length -= 1) {
    const prefix = canonicalValue('ipMask', `${ip}/${length}`);
    if (prefix.ok) keys.push({ type: 'ipMask', value: prefix.value });
  }
  return keys;
}

/** Fields of the request body. */
export const botQuestion = {
  /** In place of what user agent and address say. */
  bot: z.optional(z.strictObject({ id: policyBotId, proof: z.enum(botProofs) })),
  /** Of the bot policy's overrides. The access rules know no paths. */
  path: z._default(z.string().check(z.maxLength(2048), z.regex(/^\/[^\s#]*$/)), '/'),
};

export const explainedBotSchema = z.object({
  id: z.string(),
  behaviours: z.array(z.enum(botBehaviours)),
  proof: z.enum(botProofs),
  /** What the bot policy says of it at the path. */
  action: z.enum(botActions),
});

interface ExplainedBot extends BotSignal {
  action: BotAction;
}

interface Asked {
  bot?: { id: string; proof: BotSignal['proof'] } | undefined;
  path: string;
}

/**
 * The bot that the caller names, or the one that the user agent names, proved by the address as far as the account's bot
 * table goes. Nothing is looked up in DNS and no signature is checked, so that other proofs are the caller's to name. The
 * bot policy is the instance's, at one path.
 * @throws OperationError 400 for a bot that the table does not have.
 */
export function explainedBot(
  { bot: given, path }: Asked,
  facts: DescribedVisitor,
  table: BotTable | null,
  policy: BotPolicy,
): { bot: ExplainedBot | null; input: DecideInputs['bot'] } {
  const signal = given === undefined ? signalOf(facts, table) : givenSignal(given, table);
  if (signal === null) return { bot: null, input: null };
  const [file = path] = path.split('?', 1);
  const asked = actionFor(policy, signal, compileBotRules(policy, signal), [spelledPath(path)]);
  const action = readsRobots(file, asked);
  const { id, behaviours, proof } = signal;
  return { bot: { id, behaviours: [...behaviours], proof, action }, input: botInput(signal, action) };
}

function signalOf({ userAgent, ip }: DescribedVisitor, table: BotTable | null): BotSignal | null {
  const bot = table?.identify(userAgent) ?? null;
  if (table === null || bot === null) return null;
  const name = ip === null || bot.hasDns ? null : false;
  return botSignal(bot, proofOf(bot, table.rangeAnswer(bot, ip), name, false));
}

function givenSignal({ id, proof }: NonNullable<Asked['bot']>, table: BotTable | null): BotSignal {
  if (proof === 'suspected') return SUSPECTED_AGENT;
  const bot = table?.byId(id) ?? null;
  if (bot !== null) return botSignal(bot, proof);
  // An agent outside the catalogue is named by its host, and only its signature names it.
  if (proof === 'signature') return { id, behaviours: ['agent'], proof };
  const message = 'is not a bot of this account. Only a signature names others';
  throw new OperationError('API.INVALID_BODY', 'This bot is not known', [{ path: 'bot.id', message }]);
}
