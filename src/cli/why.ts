/**
 * `gatehouse why REFERENCE`: what the gate did with the request whose reference a visitor quotes, in sentences. It asks
 * the management API, of a local stack or a deployed service. A short reference that several requests have lists them.
 */
import { SHORT_REFERENCE } from '../contract/edge/short-reference.ts';
import { instanceCommand, type Commands } from './command.ts';
import { OperatorError } from './failure.ts';
import { callService, type ResponseAt, type ServiceTarget } from './management-call.ts';
import { printable } from './print/printable.ts';
import type { Screen } from './print/screen.ts';
import { fields, table } from './print/table.ts';

export const whyCommands: Commands = {
  why: instanceCommand({
    about:
      "Says what the gate did with a request, and why. The reference is on the gate's pages, long and short, and in the header X-Protect-Request-Id.",
    example: 'why REFERENCE',
    positionals: ['REFERENCE'],
    run: (given) => answered(given.target(), given.positionals[0] ?? ''),
    print: (answer, screen) => ('verdicts' in answer ? several(answer, screen) : explained(answer, screen)),
  }),
};

type Explanation = ResponseAt<'/protect/verdicts/explain'>;
type Found = ResponseAt<'/protect/verdicts/find'>;

async function answered(target: ServiceTarget, reference: string): Promise<Explanation | Found> {
  const explain = (requestId: string): Promise<Explanation> =>
    callService(target, '/protect/verdicts/explain', { requestId });
  if (!SHORT_REFERENCE.test(reference.trim())) return explain(reference);
  const found = await callService(target, '/protect/verdicts/find', { reference });
  const [one, ...others] = found.verdicts;
  if (one === undefined)
    throw new OperatorError(
      `No verdict has the short reference ${reference.trim()}. It finds requests of the last 49 days that the log still has. Ask for the long reference, which has 36 characters.`,
    );
  return others.length === 0 && found.isComplete ? explain(one.request_id) : found;
}

function several({ verdicts, isComplete }: Found, screen: Screen): string[] {
  const rows = table(
    [
      { title: 'TIME', cell: ({ timestamp }) => new Date(timestamp).toISOString() },
      { title: 'DECISION', cell: ({ decision }) => decision },
      { title: 'REQUEST', cell: ({ method, host, request_path: path }) => `${method} ${host}${path}` },
      { title: 'REFERENCE', cell: ({ request_id: id }) => id, isWhole: true },
    ],
    verdicts,
    screen,
  );
  return [
    'These requests have this short reference. Ask again with the long reference of the right one.',
    '',
    ...rows,
    ...(isComplete ? [] : ['', 'There are more: the log has too many requests in that minute to read all of them.']),
  ];
}

const outcomes = { allow: 'passed', challenge: 'was challenged', block: 'was blocked' } as const;
const policies = {
  enforce: '',
  monitor: ' The instance is in monitor mode, so the request was forwarded all the same.',
  'rollout-excluded': ' The visitor is outside the rollout, so the request was forwarded all the same.',
} as const;

const inputNames: Readonly<Record<Explanation['table'][number]['input'], string>> = {
  network: 'network rule',
  client: 'client rule',
  bot: 'bot policy',
  category: 'address category',
  risk: 'risk score',
  limit: 'limit',
  policy: 'policy',
};

function tableLines({ table: inputs, without, isExact }: Explanation, screen: Screen): string[] {
  const said = inputs.filter(({ outcome }) => outcome !== 'silent');
  const rows = table(
    [
      { title: 'INPUT', cell: ({ input }) => inputNames[input] },
      { title: 'SAYS', cell: ({ verdict }) => verdict },
      { title: 'BY', cell: ({ by }) => by },
      {
        title: 'OUTCOME',
        cell: ({ outcome, liftedBy }) => `${outcome}${liftedBy === null ? '' : ` by the ${inputNames[liftedBy]}`}`,
      },
    ],
    said,
    screen,
  );
  return [
    ...(said.length === 0 ? [] : ['', 'What each input of the decision table said:', '', ...rows, '']),
    ...(without === null ? [] : [`Without ${without.by}: ${without.decision}, by ${without.decidedBy}.`]),
    ...(isExact ? [] : ['The record does not have everything that was decided from.']),
  ];
}

function explained(explanation: Explanation, screen: Screen): string[] {
  const { verdict, headline, riskParts } = explanation;
  const { decision, enforcement_policy: policy, fired_rules: fired } = verdict;
  const when = new Date(verdict.timestamp).toISOString();
  const parts = riskParts.map(({ weight, says }) => `  +${weight.toFixed(2)} ${says}`);
  const rules = fired
    .filter(({ id }) => !id.startsWith('risk:'))
    .map(({ id, verdict: says, mode }) => `  ${id}: ${says}${mode === 'monitor' ? ' (monitored only)' : ''}`);
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
    ['In the log', [`${verdict.decided_by} (${verdict.source})`, verdict.explain]],
    ['Rules', [`version ${verdict.ruleset_version}`]],
    ['Instance', [verdict.instance_id, verdict.site_key]],
  ] as const;
  return [
    ...[
      `${verdict.method} ${verdict.host}${verdict.request_path} ${outcomes[decision]} with status ${verdict.status} on ${when}.${policies[policy]}`,
      headline,
    ].map(printable),
    ...tableLines(explanation, screen),
    ...(parts.length === 0 ? [] : ['What the risk score is made of:', ...parts]),
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
