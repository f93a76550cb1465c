/**
 * The bill as a table, one column for each traffic. The command prints it, and docs/operations.md has it as Markdown: a
 * test compares the page with this module.
 */
import { billOf, type Item, totalOf } from './bill.ts';
import { type Traffic, trafficOf } from './traffic.ts';

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
