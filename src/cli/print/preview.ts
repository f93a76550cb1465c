/** What previews of rules, policies and lists have in common: how far they reached, and which decisions change. */
import type { ResponseAt } from '../management-call.ts';
import { printable } from './printable.ts';
import type { Screen } from './screen.ts';
import { decisionStyle, table } from './table.ts';

type Preview = ResponseAt<
  '/protect/access-rules/preview' | '/protect/lists/preview' | '/protect/limits/preview' | '/protect/policies/preview'
>;
type Notes = Partial<Pick<ResponseAt<'/protect/limits/preview'>, 'allowedRequestsIncluded' | 'withoutInputs'>>;
type Changes = Pick<Exclude<Preview, ResponseAt<'/protect/limits/preview'>>, 'changes' | 'samples'>;

export function reachLine(reach: Preview, rest: string): string {
  const { examined, inWindow, examinedSince, complete } = reach;
  const which = complete ? `All ${examined} requests` : `The newest ${examined} of ${inWindow} requests`;
  return printable(`${which} since ${examinedSince}: ${rest}`);
}

export function reachNotes({ allowedRequestsIncluded, withoutInputs = 0 }: Notes): string[] {
  return [
    ...(allowedRequestsIncluded === false
      ? ['', 'The log of this instance has no rows of allowed requests, so most requests are missing here.']
      : []),
    ...(withoutInputs > 0
      ? ['', `Left out: ${withoutInputs} requests of older edges. The log does not say what they were decided from.`]
      : []),
  ];
}

export function changeLines({ changes, samples }: Changes, screen: Screen): string[] {
  if (changes.length === 0) return [];
  return [
    '',
    ...table(
      [
        { title: 'NOW', cell: ({ from }) => from, style: decisionStyle },
        { title: 'THEN', cell: ({ to }) => to, style: decisionStyle },
        { title: 'REQUESTS', cell: ({ requests }) => requests },
        { title: 'ADDRESSES', cell: ({ addresses }) => addresses },
      ],
      changes,
      screen,
    ),
    ...(samples.length === 0 ? [] : ['', 'The newest of each:', ...sampleLines(samples, screen)]),
  ];
}

function sampleLines(samples: Changes['samples'], screen: Screen): string[] {
  return table(
    [
      { title: 'TIME', cell: ({ timestamp }) => timestamp.slice(0, 19).replace('T', ' '), isWhole: true },
      { title: 'THEN', cell: ({ to }) => to, style: decisionStyle },
      { title: 'ADDRESS', cell: ({ ip }) => ip, isExtra: true, least: 15 },
      { title: 'PATH', cell: ({ requestPath }) => requestPath, least: 12 },
      { title: 'DECIDED BY', cell: ({ decidedBy }) => decidedBy, isExtra: true, least: 12 },
      { title: 'NOW', cell: ({ from }) => from, style: decisionStyle, isExtra: true },
      { title: 'REFERENCE', cell: ({ requestId }) => requestId, isWhole: true },
    ],
    samples,
    screen,
  );
}
