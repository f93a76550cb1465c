/** What people read of policies: lists, differences, reports of imports, tests of a request and previews. */
import type { PolicyAction } from '../../contract/management/policy-set/policy.ts';
import { changeLines, reachLine, reachNotes, type Change, type Reach, type Sample } from '../print/preview.ts';
import { printable } from '../print/printable.ts';
import type { Screen } from '../print/screen.ts';
import { fields, table } from '../print/table.ts';
import { printAction } from './read.ts';

export interface ListedPolicy {
  name: string;
  description?: string;
  text: string;
  then: PolicyAction;
  mode: string;
  hits?: { total: number; lastHitAt: string | null };
}

export interface Difference {
  change: 'added' | 'removed' | 'changed' | 'moved';
  name: string;
  placeBefore: number | null;
  placeAfter: number | null;
}

interface ReportedRule {
  place: string;
  source: string;
  outcome: string;
  policy: ListedPolicy | null;
  differences: string[];
  reason: string | null;
}

export interface Written {
  version: number;
  changed: boolean;
  dryRun: boolean;
  differences: Differences;
}

export interface Imported extends Written {
  taken: number;
  takenWithADifference: number;
  notExpressible: number;
  rules: ReportedRule[];
  notes: string[];
}

export function policyLines(version: number, policies: readonly ListedPolicy[]): string[] {
  if (policies.length === 0) return [`Version ${version} has no policies.`];
  const lines = policies.flatMap(({ name, text, then, mode, hits }, index) => {
    const counted = hits === undefined ? '' : `, fired ${hits.total} times`;
    const monitored = mode === 'monitor' ? ' (monitor)' : '';
    return [`${index + 1}. ${name}: ${printAction(then)}${monitored}${counted}`, `   ${printable(text)}`];
  });
  return [`Version ${version}:`, ...lines];
}

const signs = { added: '+', removed: '-', changed: '~', moved: '>' } as const;

export interface Differences {
  policies: Difference[];
  limits: Difference[];
  origins: Difference[];
}

export function differenceLines({ policies, limits, origins }: Differences): string[] {
  return [
    ...policies.map((difference) => differenceLine('policy', difference)),
    ...limits.map((difference) => differenceLine('limit', difference)),
    ...origins.map((difference) => differenceLine('origin', difference)),
  ];
}

function differenceLine(kind: string, { change, name, placeBefore, placeAfter }: Difference): string {
  const place = change === 'moved' ? ` from place ${placeBefore} to ${placeAfter}` : '';
  return `${signs[change]} ${kind} ${name} ${change}${place}`;
}

export interface Compared {
  from: number;
  to: number;
  differences: Differences;
}

export function comparedLines({ from, to, differences }: Compared): string[] {
  const lines = differenceLines(differences);
  return lines.length === 0 ? [`Versions ${from} and ${to} are the same.`] : lines;
}

export function writtenLines(response: Written): string[] {
  return [...differenceLines(response.differences), writtenLine(response)];
}

function writtenLine({ version, changed, dryRun }: Written): string {
  if (!changed) return `Nothing changes. The current version is ${version}.`;
  return dryRun ? `Nothing was changed: a dry run on version ${version}.` : `This is version ${version}.`;
}

/** What became of each rule of another product. */
export function importLines(response: Imported): string[] {
  const { taken, takenWithADifference: differing, notExpressible: refused } = response;
  const counts = `${taken} taken, ${differing} taken with a difference, ${refused} not taken.`;
  const end = response.dryRun ? 'Nothing was changed. Add --apply to take them.' : writtenLine(response);
  return [
    ...reportLines(response.rules, response.notes),
    '',
    taken + differing === 0 ? `${counts} Nothing was changed.` : `${counts} ${end}`,
  ];
}

export function reportLines(rules: readonly ReportedRule[], notes: readonly string[]): string[] {
  const lines = rules.flatMap(({ place, source, policy, differences, reason }) => {
    const head = `${place}: ${printable(source)}`;
    if (policy === null) return [head, `  not taken: ${printable(reason ?? '')}`];
    const { name, then, mode, text } = policy;
    return [
      head,
      `  ${name}: ${printAction(then)}${mode === 'monitor' ? ' (monitor)' : ''} where ${printable(text)}`,
      ...differences.map((difference) => `  differs: ${difference}`),
    ];
  });
  return [...lines, ...notes.map((note) => `note: ${printable(note)}`)];
}

export interface Tested {
  policies: { name: string; applies: 'yes' | 'unknown'; mode: string; then: PolicyAction }[];
  result: {
    verdict: { policy: string; action: string; level: number } | null;
    redirect: { policy: string; location: string; status: number } | null;
    skipSession: boolean;
    limits: string[];
    origin: string | null;
  };
  unknown: string[];
  logged: { before: string; after: string[]; decidedBy: string } | null;
}

export function testLines({ policies, result, unknown, logged }: Tested, screen: Screen): string[] {
  const { verdict, redirect, skipSession, limits, origin } = result;
  const level = verdict?.action === 'challenge' ? ` at level ${verdict.level}` : '';
  return [
    ...(policies.length === 0
      ? ['No policy applies.']
      : table(
          [
            { title: 'POLICY', cell: ({ name }) => name },
            { title: 'APPLIES', cell: ({ applies }) => (applies === 'yes' ? 'yes' : 'not known') },
            { title: 'MODE', cell: ({ mode }) => mode },
            { title: 'THEN', cell: ({ then }) => printAction(then) },
          ],
          policies,
          screen,
        )),
    '',
    ...fields(
      [
        ['Verdict', verdict === null ? 'none' : `${verdict.action}${level}, by ${verdict.policy}`],
        ['Redirect', redirect === null ? '' : `${redirect.status} to ${redirect.location}, by ${redirect.policy}`],
        ['Session', skipSession ? 'not asked for' : ''],
        ['Limits', limits.join(', ')],
        ['Origin', origin ?? ''],
        ['Not known', unknown.join(', ')],
        [
          'In the log',
          logged === null ? '' : `${logged.before}, by ${logged.decidedBy}; now ${logged.after.join(' or ')}`,
        ],
      ],
      screen,
    ),
  ];
}

export interface Previewed extends Reach {
  changed: number;
  changedAddresses: number;
  untold: number;
  changes: Change[];
  samples: Sample[];
  effects: { policy: string; requests: number; unknown: number }[];
  differences: Differences;
}

export function previewLines(preview: Previewed, screen: Screen): string[] {
  const { changed, changedAddresses, untold, effects } = preview;
  const differences = differenceLines(preview.differences).map(printable);
  return [
    ...differences,
    ...(differences.length === 0 ? [] : ['']),
    reachLine(preview, `${changed} would be decided otherwise, of ${changedAddresses} addresses.`),
    ...(untold === 0 ? [] : [`Of ${untold} the log does not keep what the policies ask for.`]),
    ...changeLines(preview.changes, preview.samples, screen),
    ...(effects.length === 0
      ? []
      : [
          '',
          ...table(
            [
              { title: 'POLICY', cell: ({ policy }) => policy },
              { title: 'REQUESTS', cell: ({ requests }) => requests },
              { title: 'NOT KNOWN', cell: ({ unknown }) => unknown },
            ],
            effects,
            screen,
          ),
        ]),
    ...reachNotes(preview),
  ];
}
