/**
 * `gatehouse cost --per-day N`: what a deployment costs a day, by item, for the reader's own numbers. It calls nothing:
 * the arithmetic is in this folder. docs/operations.md has the table as Markdown, and a test compares the page with it.
 */
import { CommandError } from '../command-line.ts';
import { command, type Commands, type Given } from '../command.ts';
import { billOf, totalOf, type Item } from './bill.ts';
import { trafficOf, type GivenTraffic, type Traffic } from './traffic.ts';
import { BATCH_VERDICTS_MAX, SHARDS_MAX } from './usage.ts';

export const costCommands: Commands = {
  cost: command({
    about:
      'Says what Cloudflare asks a day, by item, with every request logged. 1e9 is a number too. --sessions-per and --challenges-per are requests for one of them, 0 for none. What is left out is proposed.',
    example: 'cost --per-day 1000000',
    on: 'machine',
    required: { 'per-day': 'REQUESTS' },
    optional: {
      'sessions-per': 'REQUESTS',
      'challenges-per': 'REQUESTS',
      'texts-per': 'REQUESTS',
      batch: 'VERDICTS',
      locations: 'N',
      'retention-days': 'DAYS',
      shards: 'N',
    },
    switches: ['service-binding', 'no-service-binding'],
    run: async (given) => billFor(trafficFor(given)),
    print: ({ traffic }) => asText(traffic),
  }),
};

const REQUESTS_MAX = 1e12;

interface Flag {
  name: Exclude<keyof Traffic, 'serviceBinding'>;
  least: number;
  most: number;
}

const flags: Record<string, Flag> = {
  'per-day': { name: 'perDay', least: 1, most: REQUESTS_MAX },
  'sessions-per': { name: 'sessionsPer', least: 0, most: REQUESTS_MAX },
  'challenges-per': { name: 'challengesPer', least: 0, most: REQUESTS_MAX },
  'texts-per': { name: 'textsPer', least: 0, most: REQUESTS_MAX },
  batch: { name: 'batch', least: 1, most: BATCH_VERDICTS_MAX },
  locations: { name: 'locations', least: 0, most: 1000 },
  'retention-days': { name: 'retentionDays', least: 1, most: 730 },
  shards: { name: 'shards', least: 1, most: SHARDS_MAX },
};

function trafficFor({ values, switches }: Given): Traffic {
  if (switches.has('service-binding') && switches.has('no-service-binding'))
    throw new CommandError('Use --service-binding or --no-service-binding, not both.');
  const given: GivenTraffic = { perDay: 0, serviceBinding: !switches.has('no-service-binding') };
  for (const [flag, { name, least, most }] of Object.entries(flags)) {
    const text = values[flag];
    if (text !== undefined) given[name] = numberIn(flag, text, least, most);
  }
  return trafficOf(given);
}

function numberIn(flag: string, text: string, least: number, most: number): number {
  const number = /^\d[\d_]*(\.\d+)?(e\d{1,2})?$/i.test(text) ? Number(text.replaceAll('_', '')) : Number.NaN;
  if (!(number >= least && number <= most))
    throw new CommandError(`--${flag} is ${text}. Use a number from ${least} to ${most.toLocaleString('en-US')}.`);
  return number;
}

function billFor(traffic: Traffic): { traffic: Traffic; dollarsPerDay: number; items: Item[] } {
  const items = billOf(traffic);
  return { traffic, dollarsPerDay: totalOf(items), items };
}

function asText(traffic: Traffic): string[] {
  const { sessionsPer, challengesPer, retentionDays } = traffic;
  return [
    ...linesOf(costTable([traffic])),
    '',
    `With ${per(sessionsPer, 'session')}, ${per(challengesPer, 'challenge')}, verdicts kept for ${retentionDays} days.`,
    'List prices in dollars, without what the plan includes. docs/operations.md explains the assumptions.',
  ];
}

function per(requests: number, one: string): string {
  return requests === 0 ? `no ${one}` : `a ${one} per ${requests.toLocaleString('en-US')} requests`;
}

function linesOf({ head, rows }: CostTable): string[] {
  const lines = [head, ...rows];
  const widthOf = (column: number): number => Math.max(...lines.map((line) => line[column]?.length ?? 0));
  const [names, amounts] = [widthOf(0), widthOf(1)];
  return lines.map(([name = '', amount = '', how = '']) =>
    `${name.padEnd(names)}  ${amount.padStart(amounts)}  ${how.replaceAll('`', '')}`.trimEnd(),
  );
}

/** The bill, one column for each traffic. */
export interface CostTable {
  head: string[];
  rows: string[][];
}

/** What was given or proposed, the items, and their sum. */
export function costTable(traffics: readonly Traffic[]): CostTable {
  const bills = traffics.map(billOf);
  const assumed = (name: string, value: (traffic: Traffic) => string, how: string): string[] => [
    name,
    ...traffics.map(value),
    how,
  ];
  return {
    head: ['requests a day, N', ...traffics.map(({ perDay }) => count(perDay)), 'how'],
    rows: [
      assumed('verdicts in a batch, b', ({ batch }) => count(batch), 'what one isolate collects in its window'),
      assumed('verdict shards, S', ({ shards }) => count(shards), '`VERDICT_SHARDS`'),
      assumed('locations that poll', ({ locations }) => count(locations), '17,280 polls a day each'),
      ...(bills[0] ?? []).map(({ name, how }, at) => [
        name,
        ...bills.map((bill) => dollars((bill[at] as Item).dollars)),
        how,
      ]),
      ['together, $ a day', ...bills.map((bill) => dollars(totalOf(bill))), ''],
    ],
  };
}

/** The table of docs/operations.md. */
export function documentedCost(): CostTable {
  const days = [1e6, 1e8, 1e9];
  const table = costTable(days.map((perDay) => trafficOf({ perDay })));
  const byUrl = days.map((perDay) => dollars(totalOf(billOf(trafficOf({ perDay, serviceBinding: false })))));
  table.rows.push(['the same without a service binding', ...byUrl, '']);
  return table;
}

/** Two digits after the point, or three that say something. */
export function dollars(amount: number): string {
  if (amount === 0) return '0';
  if (amount >= 1000) return count(Math.round(amount));
  if (amount >= 100) return amount.toFixed(0);
  return amount >= 0.1 ? amount.toFixed(2) : String(Number(amount.toPrecision(1)));
}

function count(number: number): string {
  return number.toLocaleString('en-US');
}
