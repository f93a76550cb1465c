/** One verdict as a line of a table, for `gatehouse verdicts` and `gatehouse tail`. */
import type { ReturnedVerdict } from '../../contract/management/returned-verdict.ts';
import type { Column } from '../print/table.ts';
import { decisionStyle } from '../print/decision-style.ts';
import { timeText } from '../print/time.ts';

export const verdictColumns: readonly Column<ReturnedVerdict>[] = [
  { title: 'TIME (UTC)', cell: ({ timestamp }) => timeText(timestamp), isWhole: true },
  { title: 'DECISION', cell: ({ decision }) => decision, style: decisionStyle, isWhole: true },
  { title: 'ADDRESS', cell: ({ ip }) => ip, isExtra: true, least: 15 },
  { title: 'REQUEST', cell: ({ method, host, request_path }) => `${method} ${host}${request_path}`, least: 20 },
  { title: 'DECIDED BY', cell: ({ decided_by }) => decided_by, isExtra: true, least: 12 },
  { title: 'FROM', cell: ({ country, asn }) => fromText(country, asn), isExtra: true, least: 10 },
  { title: 'STATUS', cell: ({ status }) => status, isExtra: true },
  { title: 'REFERENCE', cell: ({ request_id }) => request_id, isWhole: true },
];

/** Of usual length: rows that come one by one have its widths. */
export const typicalVerdict = {
  timestamp: 0,
  decision: 'challenge',
  status: 200,
  ip: '203.0.113.255',
  country: 'DE',
  asn: 64_496,
  method: 'GET',
  host: 'www.example.com',
  request_path: '/a-path/of-usual-length',
  decided_by: 'userAgent:badbot',
  request_id: '01a20432-74c6-7eac-be38-d521a187cda6',
} as unknown as ReturnedVerdict;

function fromText(country: string | null, asn: number | null): string | null {
  const known = [country, asn === null ? null : `AS${asn}`].filter((part) => part !== null);
  return known.length === 0 ? null : known.join(' ');
}
