/**
 * `gatehouse alerts …`: what happened, and where alerts are sent, over the management API, of a local stack or a deployed
 * service.
 */
import { CommandError } from './command-line.ts';
import { instanceCommand, serviceCommand, type Commands, type Given } from './command.ts';
import { isOn, listOf, typedNumber } from './flag-values.ts';
import { callService } from './management-call.ts';
import { valueLines } from './print/value.ts';

const settings = { kinds: 'A,B', quiet: 'HH:MM-HH:MM|off', 'time-zone': 'ZONE', enabled: 'on|off' };

type Values = Given['values'];

const onChannel = <Verb extends string>(given: Given, verb: Verb, change: object = {}) =>
  callService(given.target(), `/alerts/channels/${verb}`, { channelId: given.positionals[0], ...change });

export const alertCommands: Commands = {
  'alerts list': instanceCommand({
    about: 'Lists what happened with what became of each delivery, newest first, 20 unless --limit says otherwise.',
    example: 'alerts list --limit 5',
    optional: { kind: 'KIND', limit: 'N' },
    run: (given) => {
      const { kind, limit = '20' } = given.values;
      const body = { kind, limit: typedNumber('--limit', limit) };
      return callService(given.target(), '/alerts/list', body);
    },
    print: ({ alerts }, screen) => valueLines(alerts, screen),
  }),
  'alerts channels': serviceCommand({
    about: 'Lists where alerts are sent.',
    example: 'alerts channels',
    run: (given) => callService(given.target(), '/alerts/channels', {}),
    print: ({ channels }, screen) => valueLines(channels, screen),
  }),
  'alerts add': serviceCommand({
    about:
      'Creates a channel, and prints the secret of a webhook, which is shown once. Without --kinds every alert is sent there. Quiet hours need --time-zone.',
    example: 'alerts add "On call" --shape webhook --url https://hooks.example.com/gatehouse',
    positionals: ['NAME'],
    required: { shape: 'webhook|slack|discord', url: 'URL' },
    optional: settings,
    run: (given) => {
      const { values, positionals } = given;
      const body = { name: positionals[0], shape: values['shape'], ...fieldsOf(values) };
      return callService(given.target(), '/alerts/channels/create', body);
    },
  }),
  'alerts set': serviceCommand({
    about: 'Changes a channel. An empty --kinds means every kind, and --quiet off no quiet hours.',
    example: 'alerts set CHANNEL --quiet 22:00-07:00 --time-zone Europe/Berlin',
    positionals: ['CHANNEL'],
    optional: { name: 'NAME', url: 'URL', ...settings },
    run: (given) => onChannel(given, 'update', { name: given.values['name'], ...fieldsOf(given.values) }),
  }),
  'alerts test': serviceCommand({
    about: 'Sends a test to a channel. It fails if the channel does not accept it.',
    example: 'alerts test CHANNEL',
    positionals: ['CHANNEL'],
    run: (given) => onChannel(given, 'test'),
    exitCode: ({ delivered }) => (delivered ? 0 : 1),
  }),
  'alerts rotate-secret': serviceCommand({
    about: 'Gives a webhook a new secret. Alerts are signed with the former one too for a day.',
    example: 'alerts rotate-secret CHANNEL',
    positionals: ['CHANNEL'],
    run: (given) => onChannel(given, 'rotate-secret'),
  }),
  'alerts remove': serviceCommand({
    about: 'Deletes a channel.',
    example: 'alerts remove CHANNEL',
    positionals: ['CHANNEL'],
    run: (given) => onChannel(given, 'delete'),
  }),
};

function fieldsOf({ url, kinds, quiet, 'time-zone': timeZone, enabled }: Values): object {
  return {
    webhookUrl: url,
    kinds: listOf(kinds),
    quietHours: quietOf(quiet, timeZone),
    enabled: enabled === undefined ? undefined : isOn('--enabled', enabled),
  };
}

function quietOf(quiet: string | undefined, timeZone: string | undefined): object | null | undefined {
  if (quiet === undefined || quiet === 'off') return quiet === 'off' ? null : undefined;
  const [from, until, rest] = quiet.split('-');
  if (until === undefined || rest !== undefined) throw new CommandError('--quiet is HH:MM-HH:MM, or off.');
  if (timeZone === undefined) throw new CommandError('Quiet hours need --time-zone, such as Europe/Berlin.');
  return { from, until, timeZone };
}
