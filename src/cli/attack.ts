/**
 * `gatehouse attack on|off|status|trigger`: attack mode of an instance over the management API, of a local stack or a deployed
 * service.
 */
import { argumentsOf, CommandError, usageOf } from './command-line.ts';
import type { CommandLine, CommandResult } from './command-line.ts';
import { call, targetFlags, targetOf } from './management-call.ts';

export const attackCommands = {
  'attack on': {
    about: 'Switches attack mode on for an hour, or for --minutes. On again gives it another end.',
    optional: { minutes: 'N', ...targetFlags },
  },
  'attack off': { about: 'Switches attack mode off.', optional: targetFlags },
  'attack trigger': {
    about:
      'Says what an attack that is noticed does: switch attack mode on (enforce), send an alert only (alert), or nothing (off). Below --minimum-rate requests a second nothing is an attack.',
    positionals: ['enforce|alert|off'],
    optional: { 'minimum-rate': 'N', ...targetFlags },
  },
  'attack status': { about: 'Says whether attack mode is on, and until when.', optional: targetFlags },
} satisfies Record<string, CommandLine>;

const isCommand = (name: string): name is keyof typeof attackCommands => Object.hasOwn(attackCommands, name);

/** `args`: the words of the command line, from `attack` on. `stateDir`: of the local stack. */
export async function run(args: readonly string[], stateDir = '.gatehouse'): Promise<CommandResult> {
  try {
    const name = args.slice(0, 2).join(' ');
    if (!isCommand(name)) {
      const lines = Object.entries(attackCommands).map((command) => `  ${usageOf(...command)}`);
      throw new CommandError(`There is no command "${name}". Use one of these:\n\n${lines.join('\n')}`);
    }
    const { values, positionals } = argumentsOf(name, attackCommands[name], args.slice(2));
    const target = targetOf(values['service'], values['site-key'], stateDir);
    const path = name === 'attack status' ? '/protect/attack-mode' : '/protect/attack-mode/set';
    const response = await call(target, path, name === 'attack status' ? {} : changeOf(name, positionals[0], values));
    return { exitCode: 0, output: JSON.stringify(response, null, 2) };
  } catch (error) {
    return { exitCode: 1, output: error instanceof Error ? error.message : String(error) };
  }
}

function changeOf(name: string, trigger: string | undefined, values: Readonly<Record<string, string | undefined>>) {
  const wholeNumber = (flag: string): number | undefined => {
    const text = values[flag];
    if (text === undefined) return undefined;
    if (!/^\d{1,7}$/.test(text)) throw new CommandError(`--${flag} must be a whole number, not ${text}.`);
    return Number(text);
  };
  if (name === 'attack trigger') return { trigger, minimumRate: wholeNumber('minimum-rate') };
  return { on: name === 'attack on', minutes: wholeNumber('minutes') };
}
