/** What a test on one request, and a preview on the log, say of policies. */
import type { PolicyAction } from '../../contract/management/policy-set/policy.ts';
import { type Change, changeLines, type Reach, reachLine, reachNotes, type Sample } from '../print/preview.ts';
import type { Screen } from '../print/screen.ts';
import { fields, table } from '../print/table.ts';
import { printable } from '../printable.ts';
import { printAction } from './action.ts';
import { differenceLines, type Differences } from './printed.ts';

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
