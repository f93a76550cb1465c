/**
 * `gatehouse limits …`: the limits of an instance, one by one, and who would have been above them, by the requests of its
 * log. Limits stand in one set with the policies, which has one version.
 */
import { isJsonObject } from '../bytes/json.ts';
import { stoppedSentence } from '../contract/management/stopped-sentence.ts';
import { CommandError } from './command-line.ts';
import { instanceCommand, type Commands, type Given } from './command.ts';
import { optionalNumber, windowFields } from './flag-values.ts';
import { callService, CallError, type ResponseAt } from './management-call.ts';
import { writeCommand, type Written, written } from './policies/commands.ts';
import { readSetFile } from './policies/read.ts';
import { reachLine, reachNotes } from './print/preview.ts';
import { printable } from './print/printable.ts';
import type { Screen } from './print/screen.ts';
import { table } from './print/table.ts';

type Stored = ResponseAt<'/protect/policies'>;
type Preview = ResponseAt<'/protect/limits/preview'>;

export const limitCommands: Commands = {
  'limits add': writeCommand({
    about:
      'Adds the limits of a JSON file, and its policies in front of the others, and keeps what is there. A limit by user challenges unless its "then" says otherwise. FILE may be - for standard input.',
    example: 'limits add limits.json',
    positionals: ['FILE'],
    run: added,
  }),
  'limits list': instanceCommand({
    about: 'Lists the limits, and the policies that send requests to them.',
    example: 'limits list',
    run: async ({ target }) => {
      const { version, limits, policies } = await callService(target(), '/protect/policies', {});
      return { version, limits: limits.map((limit) => ({ ...limit, policies: usersOf(policies, limit.name) })) };
    },
    print: ({ limits }, screen) =>
      limits.length === 0
        ? ['There are no limits.']
        : table(
            [
              { title: 'NAME', cell: ({ name }) => name, isWhole: true },
              { title: 'COUNTS', cell: ({ on, key }) => `${on} by ${key.join(' + ')}` },
              { title: 'ALLOWS', cell: ({ count, windowSeconds }) => `${count} in ${windowSeconds} s` },
              { title: 'THEN', cell: ({ then }) => then },
              { title: 'MODE', cell: ({ mode }) => mode },
              { title: 'POLICIES', cell: ({ policies }) => policies.join(', ') },
            ],
            limits,
            screen,
          ),
  }),
  'limits update': writeCommand({
    about:
      'Changes what is given of a limit, and keeps the rest. Where a limit by user has 429 or block, anybody who knows a user’s name can lock that user out.',
    example: 'limits update searches --mode monitor',
    positionals: ['NAME'],
    optional: { count: 'N', window: 'SECONDS', then: '429|challenge|block', mode: 'enforce|monitor' },
    run: async (given) => {
      const { version, limits, name } = await limitNamed(given);
      const { then, mode } = given.values;
      const changes = {
        count: optionalNumber('--count', given.values['count']),
        windowSeconds: optionalNumber('--window', given.values['window']),
        then,
        mode,
      };
      const known = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
      const next = limits.map((limit) => (limit.name === name ? { ...limit, ...known } : limit));
      return written(given, 'set', { limits: next, ifVersion: version });
    },
  }),
  'limits remove': writeCommand({
    about: 'Removes a limit, and the policies that send requests to it.',
    example: 'limits remove searches',
    positionals: ['NAME'],
    run: async (given) => {
      const { version, limits, policies, name } = await limitNamed(given);
      const users = usersOf(policies, name);
      return written(given, 'set', {
        limits: limits.filter((limit) => limit.name !== name),
        ...(users.length === 0
          ? {}
          : { policies: policies.filter((policy) => !users.includes(policy.name)).map(bare) }),
        ifVersion: version,
      });
    },
  }),
  'limits preview': instanceCommand({
    about:
      'Says who would have been above the limits in the last day, or since TIME: the current ones, or those of a JSON file of policies and limits.',
    example: 'limits preview --policies set.json',
    optional: { policies: 'FILE', since: 'TIME', until: 'TIME' },
    run: (given) => {
      const { policies } = given.values;
      const set = policies === undefined ? {} : readSetFile(policies);
      return callService(given.target(), '/protect/limits/preview', { ...set, ...windowFields(given.values) });
    },
    print: report,
  }),
};

async function added(given: Given): Promise<Written> {
  const { policies = [], limits = [], origins } = readSetFile(given.positionals[0] ?? '');
  if (limits.length === 0 || origins !== undefined)
    throw new CommandError(
      'The file of limits add has limits, and may have policies: {"limits": […], "policies": […]}',
    );
  const stored = await callService(given.target(), '/protect/policies', {});
  for (const [kind, own, there] of [
    ['limit', limits, stored.limits],
    ['policy', policies, stored.policies],
  ] as const) {
    const taken = there.find(({ name }) => own.some((one) => isJsonObject(one) && one['name'] === name));
    if (taken !== undefined)
      throw new CallError(
        `There is a ${kind} named "${taken.name}" already. Nothing was changed. Choose another name.`,
      );
  }
  return written(given, 'set', {
    limits: [...stored.limits, ...limits],
    // First, so that no other policy ends the search before them.
    ...(policies.length === 0 ? {} : { policies: [...policies, ...stored.policies.map(bare)] }),
    ifVersion: stored.version,
  });
}

/** What the list adds to a policy is not stored. */
function bare({ text: _text, hits: _hits, ...policy }: Stored['policies'][number]) {
  return policy;
}

function usersOf(policies: Stored['policies'], limit: string): string[] {
  return policies.filter(({ then }) => then.action === 'limit' && then.limit === limit).map(({ name }) => name);
}

async function limitNamed(given: Given): Promise<Stored & { name: string }> {
  const name = given.positionals[0] ?? '';
  const stored = await callService(given.target(), '/protect/policies', {});
  if (stored.limits.some((limit) => limit.name === name)) return { ...stored, name };
  throw new CallError(`There is no limit named "${name}".`);
}

function report(preview: Preview, screen: Screen): string[] {
  const { refused, effects } = preview;
  return [
    reachLine(preview, `${refused} would have been above an enforced limit.`),
    ...(effects.length === 0 ? ['There are no limits.'] : effects.flatMap((effect) => effectLines(effect, screen))),
    ...reachNotes(preview),
  ];
}

function effectLines(effect: Preview['effects'][number], screen: Screen): string[] {
  const { limit, mode, requests, above, untold, stopped, addresses, unlogged, visitors } = effect;
  const monitored = mode === 'monitor' ? ' (monitor)' : '';
  const lines = [`${limit}${monitored}: ${above} of ${requests} requests above it, of ${addresses} addresses.`];
  if (stopped.length > 0) lines.push(`  ${stoppedSentence(stopped)}`);
  if (untold > 0) lines.push(`  Of ${untold} more nobody can tell.`);
  if (unlogged.length > 0) lines.push(`  The log does not hold: ${unlogged.join(', ')}.`);
  if (visitors.length === 0) return lines.map(printable);
  const rows = table(
    [
      { title: 'ADDRESS', cell: ({ ip }) => ip },
      {
        title: 'FROM',
        cell: ({ asn, country }) => [country, asn === null ? '' : `AS${asn}`].filter(Boolean).join(' '),
      },
      { title: 'ABOVE', cell: (visitor) => visitor.above },
      { title: 'NOT KNOWN', cell: (visitor) => visitor.untold },
      { title: 'NEWEST', cell: ({ requestId }) => requestId, isWhole: true },
    ],
    visitors,
    screen,
  );
  return [...lines.map(printable), '', ...rows, ''];
}
