/** What people read of policies: lists, differences, reports of imports, tests of a request and previews. */
import type { ResponseAt } from '../management-call.ts';
import { changeLines, reachLine, reachNotes } from '../print/preview.ts';
import { printable } from '../print/printable.ts';
import type { Screen } from '../print/screen.ts';
import { takeBackLines, type TakenBack } from '../print/printed-command.ts';
import { fields, table } from '../print/table.ts';
import { printAction } from './read.ts';

type Written = ResponseAt<'/protect/policies/set'>;
type Imported = ResponseAt<'/protect/policies/import'>;
type Compared = ResponseAt<'/protect/policies/diff'>;

export function policyLines({ version, policies }: ResponseAt<'/protect/policies'>): string[] {
  if (policies.length === 0) return [`Version ${version} has no policies.`];
  const lines = policies.flatMap(({ name, text, then, mode, hits }, index) => {
    const counted = hits === undefined ? '' : `, fired ${hits.total} times`;
    const monitored = mode === 'monitor' ? ' (monitor)' : '';
    return [`${index + 1}. ${name}: ${printAction(then)}${monitored}${counted}`, `   ${printable(text)}`];
  });
  return [`Version ${version}:`, ...lines];
}

const signs = { added: '+', removed: '-', changed: '~', moved: '>' } as const;

export function differenceLines({ policies, limits, origins }: Compared['differences']): string[] {
  return Object.entries({ policy: policies, limit: limits, origin: origins }).flatMap(([kind, differences]) =>
    differences.map(({ change, name, placeBefore, placeAfter }) => {
      const place = change === 'moved' ? ` from place ${placeBefore} to ${placeAfter}` : '';
      return `${signs[change]} ${kind} ${name} ${change}${place}`;
    }),
  );
}

/** What is gone, as a sentence lists it. */
export function removedNames({ policies, limits, origins }: Compared['differences']): string[] {
  return Object.entries({ policy: policies, limit: limits, origin: origins }).flatMap(([kind, differences]) =>
    differences.flatMap(({ change, name }) => (change === 'removed' ? [`the ${kind} ${name}`] : [])),
  );
}

export function comparedLines({ from, to, differences }: Compared): string[] {
  const lines = differenceLines(differences);
  return lines.length === 0 ? [`Versions ${from} and ${to} are the same.`] : lines;
}

export function writtenLines(response: Written & TakenBack): string[] {
  return [...differenceLines(response.differences), writtenLine(response), ...takeBackLines(response)];
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

export function reportLines(rules: Imported['rules'], notes: readonly string[]): string[] {
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

export function testLines(tested: ResponseAt<'/protect/policies/test'>, screen: Screen): string[] {
  const { policies, result, unknown, logged } = tested;
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

export function previewLines(preview: ResponseAt<'/protect/policies/preview'>, screen: Screen): string[] {
  const { changed, changedAddresses, untold, effects } = preview;
  const differences = differenceLines(preview.differences).map(printable);
  return [
    ...differences,
    ...(differences.length === 0 ? [] : ['']),
    reachLine(preview, `${changed} would be decided otherwise, of ${changedAddresses} addresses.`),
    ...(untold === 0 ? [] : [`Of ${untold} the log does not keep what the policies ask for.`]),
    ...changeLines(preview, screen),
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
