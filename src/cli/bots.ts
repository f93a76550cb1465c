/**
 * `gatehouse bots policy|robots|traffic`: the bot policy of an instance, its robots.txt, and which bots came, over the
 * management API, of a local stack or a deployed service.
 */
import { lineDiff } from '../bytes/line-diff.ts';
import type { BotPolicy } from '../contract/management/bot-policy.ts';
import { botActions, botBehaviours, botPresets } from '../contract/vocabulary.ts';
import { CommandError } from './command-line.ts';
import { instanceCommand, type Commands, type Given, instanceFlags } from './command.ts';
import { isOn, windowFields } from './flag-values.ts';
import { callService, type ResponseAt, type ServiceTarget } from './management-call.ts';
import type { Screen } from './print/screen.ts';
import { table as tableOf, type TextColumn } from './print/table.ts';

type Values = Given['values'];
type Traffic = ResponseAt<'/protect/bots/traffic'>;

export const botCommands: Commands = {
  'bots policy': instanceCommand({
    about:
      'Shows the bot policy of an instance, or changes parts of it. --set takes BEHAVIOUR=ACTION,… with an empty action for the one of the preset. An override is JSON, and N counts from 1.',
    example: 'bots policy --preset search-only',
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
    },
    run: (given) => policyOf(given.target(), given.values),
  }),
  'bots robots': instanceCommand({
    about: "Prints robots.txt as crawlers get it, or with --diff its difference to the origin's.",
    example: 'bots robots --diff',
    isDocument: true,
    optional: { host: 'NAME' },
    switches: ['diff'],
    run: async (given) => {
      const response = await callService(given.target(), '/protect/robots', { host: given.values['host'] });
      return { ...response, isDiff: given.switches.has('diff') };
    },
    print: (response) => [robotsText(response, response.isDiff)],
  }),
  'bots traffic': instanceCommand({
    about: 'Lists which bots came, what robots.txt tells them, and what they did and got. Without times: the last day.',
    example: 'bots traffic',
    optional: { since: 'TIME', until: 'TIME', limit: 'BOTS' },
    run: (given) => {
      const body = { ...windowFields(given.values), limit: given.values['limit'] };
      return callService(given.target(), '/protect/bots/traffic', body);
    },
    print: trafficLines,
  }),
};

function robotsText({ served, origin, isServed }: ResponseAt<'/protect/robots'>, isDiff: boolean): string {
  const own = origin?.text ?? '';
  if (!isDiff) return isServed ? served : own;
  const marks = { same: ' ', added: '+', removed: '-' } as const;
  return lineDiff(own, isServed ? served : own)
    .map(({ kind, text }) => marks[kind] + text)
    .join('\n');
}

/** @returns the policy as it is then. */
async function policyOf(target: ServiceTarget, values: Values): Promise<BotPolicy> {
  const changes = Object.keys(values).some((flag) => !Object.hasOwn(instanceFlags, flag));
  const listed = (await callService({ ...target, siteKey: undefined }, '/protect/instances', {})).filter(
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
  return (await callService({ ...target, siteKey: undefined }, '/protect/instances/update', body)).botPolicy;
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

const percent = (share: number): string => `${(share * 100).toFixed(share > 0 && share < 0.001 ? 3 : 1)} %`;
const isoTime = (ms: number): string => new Date(ms).toISOString();

type Row = readonly (string | number)[];

const botColumns: Row = [
  'Bot',
  'Comes for',
  'Requests',
  'Share',
  'Range',
  'DNS',
  'Signature',
  'Claimed',
  'Suspected',
  'Allowed',
  'Challenged',
  'Blocked',
  'Charged',
  'robots.txt allows',
  'Came anyway',
];
const impostorColumns: Row = ['Impostor of', 'Requests', 'Share', 'Allowed', 'Challenged', 'Blocked', 'Charged'];

function botRow(bot: Traffic['bots'][number]): Row {
  const { range, dns, signature, claimed, suspected } = bot.proofs;
  return [
    bot.id,
    bot.behaviours.join(', '),
    bot.total,
    percent(bot.share),
    range,
    dns,
    signature,
    claimed,
    suspected,
    ...gotOf(bot),
    bot.robots?.extent ?? 'not known',
    bot.robots?.disallowed ?? 'not known',
  ];
}

function gotOf({ allow, challenge, block, charge }: Traffic['impostors'][number]): number[] {
  return [allow, challenge, block, charge];
}

function trafficLines(traffic: Traffic, screen: Screen): string[] {
  const table = (titles: Row, rows: readonly Row[]): string[] => tableOf(columnsOf(titles), rows, screen);
  const { bots, impostors, other, isExact, robotsIsExact } = traffic;
  const examples = bots.flatMap(({ id, robots }) =>
    (robots?.examples ?? []).map(({ host, path, rule, total }) => [id, total, `${host}${path}`, rule]),
  );
  return [
    `Of ${traffic.total} requests between ${isoTime(traffic.since)} and ${isoTime(traffic.until)}:`,
    '',
    ...(bots.length === 0 ? ['No bot came.'] : table(botColumns, bots.map(botRow))),
    ...(examples.length === 0 ? [] : ['', ...table(['Came anyway', 'Requests', 'Path', 'Against'], examples)]),
    ...(impostors.length === 0
      ? []
      : [
          '',
          ...table(
            impostorColumns,
            impostors.map((one) => [one.id, one.total, percent(one.share), ...gotOf(one)]),
          ),
        ]),
    ...(other.bots === 0 ? [] : ['', `${other.bots} more with ${other.total} requests. List them with --limit.`]),
    ...(isExact ? [] : ['', 'More bots came in an hour than the log counts one by one.']),
    ...(robotsIsExact ? [] : ['', 'Only the paths with most requests were compared with robots.txt.']),
  ];
}

function columnsOf(titles: Row): TextColumn<Row>[] {
  return titles.map((title, at) => ({ title: String(title), cell: (row) => row[at] }));
}
