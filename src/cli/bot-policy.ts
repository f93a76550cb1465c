/**
 * `gatehouse bots policy|robots`: the bot policy of an instance and its robots.txt over the management API, of a local
 * stack or a deployed service.
 */
import { botActions, botBehaviours, botPresets } from '../contract/vocabulary.ts';
import type { BotPolicy } from '../contract/management/bot-policy.ts';
import { lineDiff } from '../bytes/line-diff.ts';
import type { RobotsResponse } from '../contract/management/robots-query.ts';
import { CommandError } from './command-line.ts';
import { command, type Commands, type Given } from './command.ts';
import { isOn } from './flag-values.ts';
import { call, type Target, targetFlags } from './management-call.ts';

type Values = Given['values'];

export const botPolicyCommands: Commands = {
  'bots policy': command({
    about:
      'Shows the bot policy of an instance, or changes parts of it. --set takes BEHAVIOUR=ACTION,… with an empty action for the one of the preset. An override is JSON, and N counts from 1.',
    example: 'bots policy --preset search-only',
    on: 'service',
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
    run: (given) => policyOf(given.target(), given.values),
  }),
  'bots robots': command({
    about: "Prints robots.txt as crawlers get it, or with --diff its difference to the origin's.",
    example: 'bots robots --diff',
    on: 'service',
    isDocument: true,
    optional: { host: 'NAME', ...targetFlags },
    switches: ['diff'],
    run: async (given) => {
      const response = (await call(given.target(), '/protect/robots', {
        host: given.values['host'],
      })) as RobotsResponse;
      return { ...response, isDiff: given.switches.has('diff') };
    },
    print: (response) => [robots(response, response.isDiff)],
  }),
};

function robots({ served, origin, isServed }: RobotsResponse, isDiff: boolean): string {
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
    ...(served === undefined ? {} : { robots: { ...policy.robots, serve: isOn('--robots', served) } }),
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
