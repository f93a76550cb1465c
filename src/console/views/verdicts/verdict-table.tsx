/** Verdicts as rows, newest first. The time leads to the verdict. */
import { DecisionChip } from '../../components/chip.tsx';
import { Table } from '../../components/table.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';
import type { Schema } from '../../api/service-api.ts';
import { addressOf } from '../../url/params.ts';

export type VerdictRow = Schema<'Verdict'>;

function verdictAddress(verdict: VerdictRow): string {
  return addressOf(`/console/verdicts/${encodeURIComponent(verdict.request_id)}`, { site: verdict.site_key });
}

const columns: readonly Column<VerdictRow>[] = [
  {
    title: 'Time',
    cell: (verdict) => (
      <a href={verdictAddress(verdict)} class="nowrap">
        <Time at={verdict.timestamp} />
      </a>
    ),
  },
  { title: 'Decision', cell: ({ decision }) => <DecisionChip decision={decision} /> },
  { title: 'Decided by', cell: ({ decided_by: by }) => <VisitorText text={by} maxChars={60} /> },
  {
    title: 'Request',
    isWide: true,
    cell: ({ method, host, request_path: path }) => (
      <>
        <span class="soft">
          <VisitorText text={method} maxChars={12} /> <VisitorText text={host} maxChars={60} />
        </span>
        <VisitorText text={path} maxChars={120} />
      </>
    ),
  },
  { title: 'Address', cell: ({ ip }) => <span class="mono">{ip ?? '–'}</span> },
  {
    title: 'Network',
    cell: ({ country, asn }) => [country, asn === null ? null : `AS${asn}`].filter(Boolean).join(' ') || '–',
  },
  { title: 'Risk', isNumber: true, cell: ({ risk_score: score }) => score?.toFixed(2) ?? '–' },
  { title: 'Status', isNumber: true, cell: ({ status }) => (status === 0 ? 'left' : status) },
  { title: 'User agent', isWide: true, cell: ({ user_agent: text }) => <VisitorText text={text} maxChars={90} /> },
];

export interface VerdictTableProps {
  verdicts: readonly VerdictRow[];
  caption?: string;
}

export function VerdictTable({ verdicts, caption = 'Verdicts, newest first' }: VerdictTableProps) {
  return <Table caption={caption} columns={columns} rows={verdicts} keyOf={({ id }) => id} />;
}
