/** `gatehouse attack on|off|status|trigger`: attack mode of an instance over the management API. */
import { instanceCommand, type Commands, type Given } from './command.ts';
import { optionalNumber } from './flag-values.ts';
import { callService } from './management-call.ts';

const set = (given: Given, change: object) => callService(given.target(), '/protect/attack-mode/set', change);

export const attackCommands: Commands = {
  'attack on': instanceCommand({
    about: 'Switches attack mode on for an hour, or for --minutes. On again gives it another end.',
    example: 'attack on --minutes 30',
    optional: { minutes: 'N' },
    run: (given) => set(given, { on: true, minutes: optionalNumber('--minutes', given.values['minutes']) }),
  }),
  'attack off': instanceCommand({
    about: 'Switches attack mode off.',
    example: 'attack off',
    run: (given) => set(given, { on: false }),
  }),
  'attack trigger': instanceCommand({
    about:
      'Says what an attack that is noticed does: switch attack mode on (enforce), send an alert only (alert), or nothing (off). Below --minimum-rate requests a second nothing is an attack.',
    example: 'attack trigger enforce --minimum-rate 30',
    positionals: ['enforce|alert|off'],
    optional: { 'minimum-rate': 'N' },
    run: (given) => set(given, { trigger: given.positionals[0], minimumRate: minimumRateOf(given) }),
  }),
  'attack status': instanceCommand({
    about: 'Says whether attack mode is on, and until when.',
    example: 'attack status',
    run: (given) => callService(given.target(), '/protect/attack-mode', {}),
  }),
};

function minimumRateOf({ values }: Given): number | undefined {
  return optionalNumber('--minimum-rate', values['minimum-rate']);
}
