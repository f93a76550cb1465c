/**
 * `gatehouse alerts …`: what happened, and where alerts are sent, over the management API, of a local stack or a deployed
 * service. Everything is printed as JSON.
 */
import { argumentsOf, CommandError, usageOf } from './command-line.ts';
import type { CommandLine, CommandResult } from './command-line.ts';
import { call, targetFlags, targetOf } from './management-call.ts';
import type { Target } from './management-call.ts';

const service = { service: targetFlags.service };
const settings = { kinds: 'A,B', quiet: 'HH:MM-HH:MM|off', 'time-zone': 'ZONE', enabled: 'on|off' };

export const alertCommands = {
  'alerts list': {
    about: 'Lists what happened with what became of each delivery, newest first, 20 unless --limit says otherwise.',
    optional: { kind: 'KIND', limit: 'N', ...targetFlags },
  },
  'alerts channels': { about: 'Lists where alerts are sent.', optional: service },
  'alerts add': {
    about:
      'Creates a channel, and prints the secret of a webhook, which is shown once. Without --kinds every alert is sent there. Quiet hours need --time-zone.',
    positionals: ['NAME'],
    required: { shape: 'webhook|slack|discord', url: 'URL' },
    optional: { ...settings, ...service },
  },
  'alerts set': {
    about: 'Changes a channel. An empty --kinds means every kind, and --quiet off no quiet hours.',
    positionals: ['CHANNEL'],
    optional: { name: 'NAME', url: 'URL', ...settings, ...service },
  },
  'alerts test': {
    about: 'Sends a test to a channel. It fails if the channel does not accept it.',
    positionals: ['CHANNEL'],
    optional: service,
  },
  'alerts rotate-secret': {
    about: 'Gives a webhook a new secret. Alerts are signed with the former one too for a day.',
    positionals: ['CHANNEL'],
    optional: service,
  },
  'alerts remove': { about: 'Deletes a channel.', positionals: ['CHANNEL'], optional: service },
} satisfies Record<string, CommandLine>;

type Name = keyof typeof alertCommands;
type Values = Readonly<Record<string, string | undefined>>;

const isCommand = (name: string): name is Name => Object.hasOwn(alertCommands, name);

/** `args`: the words of the command line, from `alerts` on. `stateDir`: of the local stack. */
export async function run(args: readonly string[], stateDir = '.gatehouse'): Promise<CommandResult> {
  try {
    const name = args.slice(0, 2).join(' ');
    if (!isCommand(name)) {
      const lines = Object.entries(alertCommands).map((command) => `  ${usageOf(...command)}`);
      throw new CommandError(`There is no command "${name}". Use one of these:\n\n${lines.join('\n')}`);
    }
    const { values, positionals } = argumentsOf(name, alertCommands[name], args.slice(2));
    const target = targetOf(values['service'], values['site-key'], stateDir);
    const response = await calls[name](target, positionals[0] ?? '', values);
    const isRefused = name === 'alerts test' && !(response as { delivered: boolean }).delivered;
    return { exitCode: isRefused ? 1 : 0, output: JSON.stringify(response, null, 2) };
  } catch (error) {
    return { exitCode: 1, output: error instanceof Error ? error.message : String(error) };
  }
}

const calls: Readonly<Record<Name, (target: Target, operand: string, values: Values) => Promise<unknown>>> = {
  'alerts list': (target, _, { kind, limit }) =>
    call(target, '/alerts/list', { kind, limit: wholeNumber(limit ?? '20') }),
  'alerts channels': (target) => call(target, '/alerts/channels', {}),
  'alerts add': (target, name, values) =>
    call(target, '/alerts/channels/create', { name, shape: values['shape'], ...fieldsOf(values) }),
  'alerts set': (target, channelId, values) =>
    call(target, '/alerts/channels/update', { channelId, name: values['name'], ...fieldsOf(values) }),
  'alerts test': (target, channelId) => call(target, '/alerts/channels/test', { channelId }),
  'alerts rotate-secret': (target, channelId) => call(target, '/alerts/channels/rotate-secret', { channelId }),
  'alerts remove': (target, channelId) => call(target, '/alerts/channels/delete', { channelId }),
};

function fieldsOf({ url, kinds, quiet, 'time-zone': timeZone, enabled }: Values): object {
  return {
    webhookUrl: url,
    kinds: kinds?.split(',').filter((kind) => kind !== ''),
    quietHours: quietOf(quiet, timeZone),
    enabled: enabled === undefined ? undefined : isOn(enabled),
  };
}

function quietOf(quiet: string | undefined, timeZone: string | undefined): object | null | undefined {
  if (quiet === undefined || quiet === 'off') return quiet === 'off' ? null : undefined;
  const [from, until, rest] = quiet.split('-');
  if (until === undefined || rest !== undefined) throw new CommandError('--quiet is HH:MM-HH:MM, or off.');
  if (timeZone === undefined) throw new CommandError('Quiet hours need --time-zone, such as Europe/Berlin.');
  return { from, until, timeZone };
}

function isOn(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new CommandError('--enabled is on or off.');
  return text === 'on';
}

function wholeNumber(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new CommandError(`--limit must be a whole number, not ${text}.`);
  return Number(text);
}
