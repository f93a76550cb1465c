/**
 * `gatehouse why REFERENCE`: what the gate did with the request whose reference a visitor quotes, in sentences. It asks
 * the management API, of a local stack or a deployed service.
 */
import type { VerdictExplanation } from '../contract/management/verdict-explanation.ts';
import { command } from './command.ts';
import type { Commands } from './command.ts';
import { call, targetFlags } from './management-call.ts';
import { fields, table } from './print/table.ts';
import type { Screen } from './print/screen.ts';
import { printable } from './printable.ts';

export const whyCommands: Commands = {
  why: command({
    about:
      "Says what the gate did with a request, and why. The reference is on the gate's pages and in the header X-Protect-Request-Id.",
    example: 'why REFERENCE',
    on: 'service',
    positionals: ['REFERENCE'],
    optional: targetFlags,
    run: (given) =>
      call(given.target(), '/protect/verdicts/explain', {
        requestId: given.positionals[0],
      }) as Promise<VerdictExplanation>,
    print: explained,
  }),
};

const outcomes = { allow: 'passed', challenge: 'was challenged', block: 'was blocked' } as const;
const policies = {
  enforce: '',
  monitor: ' The instance is in monitor mode, so the request was forwarded all the same.',
  'rollout-excluded': ' The visitor is outside the rollout, so the request was forwarded all the same.',
} as const;

function tableLines({ table: inputs, laterStep, without, isExact }: VerdictExplanation, screen: Screen): string[] {
  const said = inputs.filter(({ outcome }) => outcome !== 'silent');
  const rows = table(
    [
      { title: 'INPUT', cell: ({ input }) => input },
      { title: 'SAYS', cell: ({ verdict }) => verdict },
      { title: 'BY', cell: ({ by }) => by },
      {
        title: 'OUTCOME',
        cell: ({ outcome, liftedBy }) => `${outcome}${liftedBy === null ? '' : ` by ${liftedBy}`}`,
      },
    ],
    said,
    screen,
  );
  return [
    ...(said.length === 0 ? [] : ['', 'What each input of the decision table said:', '', ...rows, '']),
    ...(laterStep === null ? [] : [`The step after the table: ${laterStep}.`]),
    ...(without === null ? [] : [`Without ${without.by}: ${without.decision}, by ${without.decidedBy}.`]),
    ...(isExact ? [] : ["A part of this follows from the instance's present settings."]),
  ];
}

function explained(explanation: VerdictExplanation, screen: Screen): string[] {
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
    ...[
      `${verdict.method} ${verdict.host}${verdict.request_path} ${outcomes[decision]} with status ${verdict.status} on ${when}.${policies[policy]}`,
      `Decided by ${verdict.decided_by} (${verdict.source}). ${verdict.explain}`,
    ].map(printable),
    ...tableLines(explanation, screen),
    ...(rules.length === 0 ? ['No rule fired.'] : ['Rules that fired:', ...rules]).map(printable),
    '',
    ...fields(
      facts.map(([name, values]) => [name, values.filter((value) => isKnown(value)).join(', ')] as const),
      screen,
    ),
  ];
}

function isKnown(value: unknown): boolean {
  return value !== null && value !== undefined && value !== '';
}
