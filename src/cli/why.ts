/**
 * `gatehouse why REFERENCE`: what the gate did with the request whose reference a visitor quotes, in sentences. It asks
 * the management API, of a local stack or a deployed service.
 */
import type { VerdictExplanation } from '../contract/management/verdict-explanation.ts';
import { argumentsOf } from './command-line.ts';
import type { CommandLine, CommandResult } from './command-line.ts';
import { call, targetFlags, targetOf } from './management-call.ts';
import { printable } from './printable.ts';

export const whyCommands = {
  why: {
    about:
      "Says what the gate did with a request, and why. The reference is on the gate's pages and in the header X-Protect-Request-Id.",
    positionals: ['REFERENCE'],
    optional: targetFlags,
  },
} satisfies Record<string, CommandLine>;

/** `args`: the words of the command line, from `why` on. `stateDir`: of the local stack. */
export async function run(args: readonly string[], stateDir = '.gatehouse'): Promise<CommandResult> {
  try {
    const { values, positionals } = argumentsOf('why', whyCommands.why, args.slice(1));
    const [reference = ''] = positionals;
    const target = targetOf(values['service'], values['site-key'], stateDir);
    const answer = await call(target, '/protect/verdicts/explain', { requestId: reference });
    return { exitCode: 0, output: explained(answer as VerdictExplanation) };
  } catch (error) {
    return { exitCode: 1, output: error instanceof Error ? error.message : String(error) };
  }
}

const outcomes = { allow: 'passed', challenge: 'was challenged', block: 'was blocked' } as const;
const policies = {
  enforce: '',
  monitor: ' The instance is in monitor mode, so the request was forwarded all the same.',
  'rollout-excluded': ' The visitor is outside the rollout, so the request was forwarded all the same.',
} as const;

function tableLines({ table, laterStep, without, isExact }: VerdictExplanation): string[] {
  const said = table
    .filter(({ outcome }) => outcome !== 'silent')
    .map(
      ({ input, verdict, by, outcome, liftedBy }) =>
        `  ${input}: ${verdict} by ${by}, ${outcome}${liftedBy === null ? '' : ` by ${liftedBy}`}`,
    );
  return [
    ...(said.length === 0 ? [] : ['What each input of the decision table said:', ...said]),
    ...(laterStep === null ? [] : [`The step after the table: ${laterStep}.`]),
    ...(without === null ? [] : [`Without ${without.by}: ${without.decision}, by ${without.decidedBy}.`]),
    ...(isExact ? [] : ["A part of this follows from the instance's present settings."]),
  ];
}

function explained(explanation: VerdictExplanation): string {
  const { verdict } = explanation;
  const { decision, enforcement_policy: policy, fired_rules: fired } = verdict;
  const when = new Date(verdict.timestamp).toISOString();
  const rules = fired.map(
    ({ id, verdict: says, mode }) => `  ${id}: ${says}${mode === 'monitor' ? ' (monitored only)' : ''}`,
  );
  const facts = [
    [
      'Address',
      [verdict.ip, verdict.country, verdict.asn === null ? null : `AS${verdict.asn}`, ...verdict.ip_category],
    ],
    ['User agent', [verdict.user_agent]],
    ['Device', [verdict.device_type]],
    ['JA4', [verdict.ja4]],
    ['Session', [verdict.jti, verdict.session_status]],
    ['Risk score', [verdict.risk_score?.toFixed(2)]],
    ['Token', [verdict.verified === null ? 'none' : verdict.verified ? 'verified' : 'not verified']],
    ['Rules', [`version ${verdict.ruleset_version}`]],
    ['Instance', [verdict.instance_id, verdict.site_key]],
  ] as const;
  return [
    `${verdict.method} ${verdict.host}${verdict.request_path} ${outcomes[decision]} with status ${verdict.status} on ${when}.${policies[policy]}`,
    `Decided by ${verdict.decided_by} (${verdict.source}). ${verdict.explain}`,
    ...tableLines(explanation),
    ...(rules.length === 0 ? ['No rule fired.'] : ['Rules that fired:', ...rules]),
    ...facts.flatMap(([name, values]) => {
      const known = values.filter((value) => value !== null && value !== undefined && value !== '');
      return known.length === 0 ? [] : [`${name}: ${known.join(', ')}`];
    }),
  ]
    .map(printable)
    .join('\n');
}
