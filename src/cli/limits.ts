/**
 * `gatehouse limits preview`: who would have been above the limits of an instance, or of a file, by the requests of its log.
 * It asks the management API, of a local stack or a deployed service.
 */
import { stoppedSentence } from '../contract/management/stopped-sentence.ts';
import { instanceCommand, type Commands } from './command.ts';
import { windowFields } from './flag-values.ts';
import { callService, type ResponseAt } from './management-call.ts';
import { readSetFile } from './policies/read.ts';
import { reachLine, reachNotes } from './print/preview.ts';
import { printable } from './print/printable.ts';
import type { Screen } from './print/screen.ts';
import { table } from './print/table.ts';

type Preview = ResponseAt<'/protect/limits/preview'>;

export const limitCommands: Commands = {
  'limits preview': instanceCommand({
    about:
      'Says who would have been above the limits in the last day, or since TIME: the current ones, or those of a JSON file of policies and limits.',
    example: 'limits preview --policies set.json',
    optional: { policies: 'FILE', since: 'TIME', until: 'TIME' },
    run: (given) => {
      const { policies } = given.values;
      const set = policies === undefined ? {} : readSetFile(policies);
      return callService(given.target(), '/protect/limits/preview', { ...set, ...windowFields(given.values) });
    },
    print: report,
  }),
};

function report(preview: Preview, screen: Screen): string[] {
  const { refused, effects } = preview;
  return [
    reachLine(preview, `${refused} would have been above an enforced limit.`),
    ...(effects.length === 0 ? ['There are no limits.'] : effects.flatMap((effect) => effectLines(effect, screen))),
    ...reachNotes(preview),
  ];
}

function effectLines(effect: Preview['effects'][number], screen: Screen): string[] {
  const { limit, mode, requests, above, untold, stopped, addresses, unlogged, visitors } = effect;
  const monitored = mode === 'monitor' ? ' (monitor)' : '';
  const lines = [`${limit}${monitored}: ${above} of ${requests} requests above it, of ${addresses} addresses.`];
  if (stopped.length > 0) lines.push(`  ${stoppedSentence(stopped)}`);
  if (untold > 0) lines.push(`  Of ${untold} more nobody can tell.`);
  if (unlogged.length > 0) lines.push(`  The log does not hold: ${unlogged.join(', ')}.`);
  if (visitors.length === 0) return lines.map(printable);
  const rows = table(
    [
      { title: 'ADDRESS', cell: ({ ip }) => ip },
      {
        title: 'FROM',
        cell: ({ asn, country }) => [country, asn === null ? '' : `AS${asn}`].filter(Boolean).join(' '),
      },
      { title: 'ABOVE', cell: (visitor) => visitor.above },
      { title: 'NOT KNOWN', cell: (visitor) => visitor.untold },
      { title: 'NEWEST', cell: ({ requestId }) => requestId, isWhole: true },
    ],
    visitors,
    screen,
  );
  return [...lines.map(printable), '', ...rows, ''];
}
