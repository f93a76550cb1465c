/**
 * `gatehouse attack on|off|status`: attack mode of an instance over the management API, of a local stack or a deployed
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
    const { values } = argumentsOf(name, attackCommands[name], args.slice(2));
    const target = targetOf(values['service'], values['site-key'], stateDir);
    const path = name === 'attack status' ? '/protect/attack-mode' : '/protect/attack-mode/set';
    const response = await call(target, path, name === 'attack status' ? {} : changeOf(name, values['minutes']));
    return { exitCode: 0, output: JSON.stringify(response, null, 2) };
  } catch (error) {
    return { exitCode: 1, output: error instanceof Error ? error.message : String(error) };
  }
}

function changeOf(name: string, minutes: string | undefined): object {
  if (minutes !== undefined && !/^\d{1,6}$/.test(minutes)) {
    throw new CommandError(`--minutes must be a whole number, not ${minutes}.`);
  }
  return { on: name === 'attack on', minutes: minutes === undefined ? undefined : Number(minutes) };
}
