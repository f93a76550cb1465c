/**
 * The instance's bot policy for one bot: an action for every path. It is compiled to one list of patterns of which the
 * longest that matches counts. The gate and robots.txt read the same list, so they cannot differ.
 */
import type { BotPolicy } from '../contract/management/bot-policy.ts';
import type { BotAction, BotBehaviour, BotPreset } from '../contract/vocabulary.ts';
import { isProved, type DecideInputs } from '../rules/decision-table.ts';
import type { BotSignal } from './bot-proof.ts';
import { covers, matchesPath, spelledPath } from './path-match.ts';

interface BotRule {
  pattern: string;
  action: BotAction;
}
export interface BotRules {
  /** Where no pattern matches. */
  elsewhere: BotAction;
  /** The longest pattern first; of equal length the more lenient. */
  rules: readonly BotRule[];
}

type Named = Pick<BotSignal, 'id' | 'behaviours'>;

/** `inherit` promises less than `allow` does. */
const strictness: Record<BotAction, number> = { allow: 0, inherit: 1, challenge: 2, charge: 3, block: 4 };

/** Where nobody is challenged: see `path-policy.ts` of the edge. */
const neverChallenged = ['/.well-known/', '/favicon.ico$'];

const presets: Record<BotPreset, { named: Partial<Record<BotBehaviour, BotAction>>; others: BotAction }> = {
  open: { named: {}, others: 'allow' },
  'search-only': {
    named: { agent: 'challenge', seo: 'challenge', training: 'block', other: 'inherit' },
    others: 'allow',
  },
  closed: { named: { monitor: 'allow', webhook: 'allow' }, others: 'block' },
};
/** A person may be suspected too: nothing applies to such visitors but what is said of them by name. */
const SUSPECTED = 'suspected-agent';

export function behaviourAction({ preset, behaviours }: BotPolicy, behaviour: BotBehaviour): BotAction {
  const { named, others } = presets[preset];
  return behaviours[behaviour] ?? (behaviour === SUSPECTED ? 'inherit' : (named[behaviour] ?? others));
}

/** Whether robots.txt says that a bot may fetch what has this action. */
export function isPermitted(action: BotAction): boolean {
  return action === 'allow' || action === 'inherit';
}

/** A bot does one thing among several: the strictest of them counts, and `inherit` says nothing. */
function strictest(actions: readonly BotAction[]): BotAction {
  const said = actions.filter((action) => action !== 'inherit');
  return said.reduce<BotAction>((one, other) => stricter(one, other), said.length > 0 ? 'allow' : 'inherit');
}

function stricter(one: BotAction, other: BotAction): BotAction {
  return strictness[other] > strictness[one] ? other : one;
}

export function compileBotRules(policy: BotPolicy, { id, behaviours }: Named): BotRules {
  const own = new Map<string, BotAction>();
  const byBehaviour = behaviours.map((name) => new Map([['', behaviourAction(policy, name)]]));
  for (const { bot, behaviour, path, action } of policy.overrides) {
    const pattern = path === undefined ? '' : spelledPath(path);
    const isOwn = bot === id;
    const lists = isOwn ? [own] : byBehaviour.filter((_, at) => isAbout({ bot, behaviour }, behaviours[at]));
    for (const list of lists) list.set(pattern, action);
  }
  const patterns = new Set([...own.keys(), ...byBehaviour.flatMap((list) => [...list.keys()])]);
  // What a behaviour does at a pattern that only another one names is what its own longest pattern around it says.
  const rules = [...patterns].map((pattern) => ({
    pattern,
    action: own.get(pattern) ?? strictest(byBehaviour.map((list) => actionAt(list, pattern))),
  }));
  const elsewhere = rules.find(({ pattern }) => pattern === '')?.action ?? 'inherit';
  if (elsewhere === 'challenge') {
    for (const pattern of neverChallenged) if (!patterns.has(pattern)) rules.push({ pattern, action: 'inherit' });
  }
  return {
    elsewhere,
    rules: rules
      .filter(({ pattern }) => pattern !== '')
      .sort((a, b) => b.pattern.length - a.pattern.length || strictness[a.action] - strictness[b.action]),
  };
}

function isAbout(override: Pick<BotPolicy['overrides'][number], 'bot' | 'behaviour'>, name?: BotBehaviour): boolean {
  if (override.bot !== undefined) return false;
  return override.behaviour === undefined ? name !== SUSPECTED : override.behaviour === name;
}

function actionAt(list: ReadonlyMap<string, BotAction>, pattern: string): BotAction {
  const own = list.get(pattern);
  if (own !== undefined) return own;
  let found: BotAction = 'inherit';
  let longest = -1;
  for (const [around, action] of list) {
    if (around.length <= longest || !covers(around, pattern)) continue;
    found = action;
    longest = around.length;
  }
  return found;
}

/** What the rules say about an address, in every way in which it can be read. `null`: it could be any. */
export function actionAtPath({ elsewhere, rules }: BotRules, readings: readonly string[] | null): BotAction {
  if (readings === null) return rules.reduce((one, { action }) => stricter(one, action), elsewhere);
  let result: BotAction | null = null;
  for (const reading of readings) {
    const action = rules.find(({ pattern }) => matchesPath(pattern, reading))?.action ?? elsewhere;
    result = result === null ? action : stricter(result, action);
  }
  return result ?? elsewhere;
}

/**
 * What a bot gets. A name without a proof gives nothing: it gets what the policy says of such names, or what the bot of
 * that name gets where that is stricter. Else a crawler could pass a ban by leaving its own network. The name of a bot
 * with published networks gets what impostors get until a proof is there. Else a false one would pass while a list is
 * not loaded or a host name is looked up.
 */
export function actionFor(
  policy: BotPolicy,
  bot: BotSignal,
  rules: BotRules,
  readings: readonly string[] | null,
): BotAction {
  const named = actionAtPath(rules, readings);
  if (isProved(bot.proof) || bot.proof === 'suspected') return named;
  const { claimed, impostor } = policy;
  const unproved = bot.proof === 'impostor' ? impostor : bot.isPublished ? stricter(claimed, impostor) : claimed;
  return isPermitted(named) ? unproved : stricter(unproved, named);
}

export const ROBOTS_PATH = '/robots.txt';

/** A crawler that cannot read robots.txt may take everything (RFC 9309 section 2.3.1.3). */
export function readsRobots(path: string, action: BotAction): BotAction {
  return path === ROBOTS_PATH && !isPermitted(action) ? 'inherit' : action;
}

/** The action as an input of the decision table. */
export function botInput({ id, proof }: BotSignal, action: BotAction): DecideInputs['bot'] {
  return action === 'inherit' ? null : { verdict: action === 'charge' ? 'block' : action, id, proof };
}
