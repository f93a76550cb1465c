/** The filters of the verdict log as flags, and as fields of a call. */
import { botProofs, decisions, deviceTypes, verdictSources } from '../../contract/vocabulary.ts';
import { listOf, optionalNumber } from '../flag-values.ts';
import { windowOf } from '../time-flag.ts';

type Values = Readonly<Record<string, string | undefined>>;

/** Of every command that reads verdicts. A flag with several values takes them with commas. */
export const filterFlags = {
  decision: decisions.join('|'),
  ip: 'ADDRESS',
  path: 'PATH',
  session: 'ID',
  source: 'A,B',
  rule: 'ID,ID',
  asn: 'NUMBER,NUMBER',
  device: deviceTypes.join('|'),
  bot: 'ID,ID',
  proof: botProofs.join('|'),
  'min-rules': 'N',
} as const;

export const windowFlags = { since: 'TIME', until: 'TIME' } as const;

export const filterChoices = { source: verdictSources } as const;

export function filterOf(values: Values): object {
  return {
    decision: listOf(values['decision']),
    ip: values['ip'],
    requestPath: values['path'],
    jti: values['session'],
    sources: listOf(values['source']),
    firedRules: listOf(values['rule']),
    asn: listOf(values['asn']),
    deviceType: listOf(values['device']),
    bot: listOf(values['bot']),
    proof: listOf(values['proof']),
    minRulesFired: optionalNumber('--min-rules', values['min-rules']),
    ...windowOf(values),
  };
}
