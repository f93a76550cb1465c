/**
 * `gatehouse limits preview`: who would have been above the limits of an instance, or of a file, by the requests of its log.
 * It asks the management API, of a local stack or a deployed service.
 */
import { command } from './command.ts';
import type { Commands } from './command.ts';
import { call, targetFlags } from './management-call.ts';
import { readSetFile } from './policies/condition.ts';
import { printable } from './printable.ts';

interface Effect {
  limit: string;
  mode: string;
  requests: number;
  above: number;
  untold: number;
  addresses: number;
  unlogged: string[];
  visitors: {
    ip: string | null;
    asn: number | null;
    country: string | null;
    above: number;
    untold: number;
    requestId: string;
  }[];
}

interface Preview {
  examined: number;
  examinedSince: string;
  complete: boolean;
  inWindow: number;
  allowedRequestsIncluded: boolean;
  refused: number;
  effects: Effect[];
}

export const limitCommands: Commands = {
  'limits preview': command({
    about:
      'Says who would have been above the limits in the last day, or since TIME: the current ones, or those of a JSON file of policies and limits.',
    example: 'limits preview --policies set.json',
    on: 'service',
    optional: { policies: 'FILE', since: 'TIME', until: 'TIME', ...targetFlags },
    run: (given) => {
      const { policies, since, until } = given.values;
      const set = policies === undefined ? {} : readSetFile(policies);
      return call(given.target(), '/protect/limits/preview', { ...set, since, until }) as Promise<Preview>;
    },
    print: (preview) => report(preview).map(printable),
  }),
};

function report(preview: Preview): string[] {
  const { examined, inWindow, examinedSince, complete, refused } = preview;
  const reach = complete ? `All ${examined} requests` : `The newest ${examined} of ${inWindow} requests`;
  const lines = [
    `${reach} since ${examinedSince}: ${refused} would have been above an enforced limit.`,
    ...preview.effects.flatMap(effectLines),
  ];
  if (preview.effects.length === 0) lines.push('There are no limits.');
  if (!preview.allowedRequestsIncluded)
    lines.push('The log of this instance has no rows of allowed requests, so most requests are missing here.');
  return lines;
}

function effectLines({ limit, mode, requests, above, untold, addresses, unlogged, visitors }: Effect): string[] {
  const monitored = mode === 'monitor' ? ' (monitor)' : '';
  const lines = [`${limit}${monitored}: ${above} of ${requests} requests above it, of ${addresses} addresses.`];
  if (untold > 0) lines.push(`  Of ${untold} more nobody can tell.`);
  if (unlogged.length > 0) lines.push(`  The log does not hold: ${unlogged.join(', ')}.`);
  for (const { ip, asn, country, requestId, ...counts } of visitors) {
    const from = [country, asn === null ? null : `AS${asn}`].filter((part) => part !== null).join(', ');
    const maybe = counts.untold === 0 ? '' : `, ${counts.untold} untold`;
    const address = `${ip ?? 'no address'}${from === '' ? '' : ` (${from})`}`;
    lines.push(`  ${address}: ${counts.above} above${maybe}, the newest is ${requestId}`);
  }
  return lines;
}
