/**
 * `gatehouse bots policy|robots`: the bot policy of an instance and its robots.txt over the management API, of a local
 * stack or a deployed service.
 */
import { botActions, botBehaviours, botPresets } from '../contract/vocabulary.ts';
import type { BotPolicy } from '../contract/management/bot-policy.ts';
import { lineDiff } from '../bytes/line-diff.ts';
import type { RobotsResponse } from '../contract/management/robots-query.ts';
import { argumentsOf, CommandError } from './command-line.ts';
import type { CommandLine, CommandResult } from './command-line.ts';
import { call, targetFlags, targetOf } from './management-call.ts';
import type { Target } from './management-call.ts';

export const botPolicyCommands = {
  'bots policy': {
    about:
      'Shows the bot policy of an instance, or changes parts of it. --set takes BEHAVIOUR=ACTION,… with an empty action for the one of the preset. An override is JSON, and N counts from 1.',
    optional: {
      preset: botPresets.join('|'),
      set: 'BEHAVIOUR=ACTION,…',
      claimed: 'ACTION',
      impostor: 'ACTION',
      'add-override': 'JSON',
      'remove-override': 'N',
      charge: 'PRICE',
      licence: 'URL',
      robots: 'on|off',
      ...targetFlags,
    },
  },
  'bots robots': {
    about: "Prints robots.txt as crawlers get it, or with --diff its difference to the origin's.",
    optional: { host: 'NAME', ...targetFlags },
    switches: ['diff'],
  },
} satisfies Record<string, CommandLine>;

type Values = Readonly<Record<string, string | undefined>>;

export function isBotPolicyCommand(args: readonly string[]): boolean {
  return Object.hasOwn(botPolicyCommands, args.slice(0, 2).join(' '));
}

/** `args`: the words of the command line, from `bots` on. `stateDir`: of the local stack. */
export async function run(args: readonly string[], stateDir = '.gatehouse'): Promise<CommandResult> {
  try {
    const name = args[1] === 'robots' ? 'bots robots' : 'bots policy';
    const { values, switches } = argumentsOf(name, botPolicyCommands[name], args.slice(2));
    const target = targetOf(values['service'], values['site-key'], stateDir);
    if (name === 'bots robots')
      return { exitCode: 0, output: await robots(target, values['host'], switches.has('diff')) };
    return { exitCode: 0, output: JSON.stringify(await policyOf(target, values), null, 2) };
  } catch (error) {
    return { exitCode: 1, output: error instanceof Error ? error.message : String(error) };
  }
}

async function robots(target: Target, host: string | undefined, isDiff: boolean): Promise<string> {
  const { served, origin, isServed } = (await call(target, '/protect/robots', { host })) as RobotsResponse;
  const own = origin?.text ?? '';
  if (!isDiff) return isServed ? served : own;
  const marks = { same: ' ', added: '+', removed: '-' } as const;
  return lineDiff(own, isServed ? served : own)
    .map(({ kind, text }) => marks[kind] + text)
    .join('\n');
}

interface Listed {
  id: string;
  active: boolean;
  globalSiteKey: string;
  version: number;
  botPolicy: BotPolicy;
}

/** @returns the policy as it is then. */
async function policyOf(target: Target, values: Values): Promise<BotPolicy> {
  const changes = Object.keys(values).some((flag) => !Object.hasOwn(targetFlags, flag));
  const listed = ((await call({ ...target, siteKey: undefined }, '/protect/instances', {})) as Listed[]).filter(
    ({ active, globalSiteKey }) => active && (target.siteKey === undefined || globalSiteKey === target.siteKey),
  );
  const [instance, other] = listed;
  if (instance === undefined) throw new CommandError('The account has no such instance. Check --site-key.');
  if (other !== undefined) {
    const keys = listed.map(({ globalSiteKey }) => globalSiteKey).join(', ');
    throw new CommandError(`The account has several instances. Name one with --site-key: ${keys}.`);
  }
  if (!changes) return instance.botPolicy;
  const body = { id: instance.id, ifVersion: instance.version, botPolicy: changed(instance.botPolicy, values) };
  return ((await call({ ...target, siteKey: undefined }, '/protect/instances/update', body)) as Listed).botPolicy;
}

function changed(policy: BotPolicy, values: Values): object {
  const { preset, claimed, impostor, charge, licence, robots: served } = values;
  return {
    ...policy,
    ...(preset === undefined ? {} : { preset }),
    ...(claimed === undefined ? {} : { claimed }),
    ...(impostor === undefined ? {} : { impostor }),
    ...(charge === undefined && licence === undefined ? {} : { charge: priceOf(policy, charge, licence) }),
    ...(served === undefined ? {} : { robots: { ...policy.robots, serve: isOn(served) } }),
    behaviours: { ...policy.behaviours, ...behavioursOf(values['set']) },
    overrides: overridesOf(policy.overrides, values['add-override'], values['remove-override']),
  };
}

function priceOf({ charge }: BotPolicy, price: string | undefined, licenseUrl: string | undefined): object | null {
  if (price === 'none') return null;
  const whole = { price: price ?? charge?.price, licenseUrl: licenseUrl ?? charge?.licenseUrl };
  if (whole.price === undefined || whole.licenseUrl === undefined) {
    throw new CommandError('A price needs a licence. Send --charge PRICE and --licence URL.');
  }
  return whole;
}

function isOn(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new CommandError('--robots is on or off.');
  return text === 'on';
}

function behavioursOf(text: string | undefined): Record<string, string | undefined> {
  const pairs = (text ?? '').split(',').filter((pair) => pair !== '');
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', action = ''] = pair.split('=');
      const isKnown = (botBehaviours as readonly string[]).includes(name);
      if (!isKnown || (action !== '' && !(botActions as readonly string[]).includes(action))) {
        throw new CommandError(
          `"${pair}" is not BEHAVIOUR=ACTION. Behaviours: ${botBehaviours.join(', ')}. Actions: ${botActions.join(', ')}.`,
        );
      }
      return [name, action === '' ? undefined : action];
    }),
  );
}

function overridesOf(
  overrides: BotPolicy['overrides'],
  added: string | undefined,
  removed: string | undefined,
): readonly unknown[] {
  const at = removed === undefined ? 0 : Number(removed);
  if (removed !== undefined && overrides[at - 1] === undefined) {
    throw new CommandError(`There is no override ${removed}. The policy has ${overrides.length}.`);
  }
  const left = overrides.filter((_, other) => other !== at - 1);
  return added === undefined ? left : [...left, parsed(added)];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CommandError('--add-override is not JSON, such as {"bot":"gptbot","action":"block"}.');
  }
}
