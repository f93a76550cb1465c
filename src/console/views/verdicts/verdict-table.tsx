/** Verdicts as rows, newest first. The time leads to the verdict, any other value to what else has it. */
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { DecisionChip, Time, VisitorText } from '../../components/values.tsx';
import { Table, type TableColumn } from '../../components/table.tsx';
import type { Schema } from '../../api/service-api.ts';
import { addressOf } from '../../url/params.ts';

export type VerdictRow = Schema<'Verdict'>;

function verdictAddress(verdict: VerdictRow): string {
  return addressOf(`/console/verdicts/${encodeURIComponent(verdict.request_id)}`, { site: verdict.site_key });
}

/** The list with one more filter. */
export type HrefOf = (filter: Readonly<Record<string, string>>) => string;

export interface VerdictTableProps {
  verdicts: readonly VerdictRow[];
  caption?: string;
  /** Where a click on a value leads: by default to the verdicts with that value. */
  hrefOf?: HrefOf;
}

export function VerdictTable({ verdicts, caption = 'Verdicts, newest first', hrefOf }: VerdictTableProps) {
  const columns = useMemo(() => columnsFor(hrefOf, sharedHost(verdicts)), [hrefOf, sharedHost(verdicts)]);
  return <Table caption={caption} columns={columns} rows={verdicts} keyOf={({ id }) => id} />;
}

/** `null`: the rows have several. */
function sharedHost(verdicts: readonly VerdictRow[]): string | null {
  const host = verdicts[0]?.host ?? null;
  return verdicts.every((verdict) => verdict.host === host) ? host : null;
}

function columnsFor(hrefOf: HrefOf | undefined, shared: string | null): readonly TableColumn<VerdictRow>[] {
  const to = (verdict: VerdictRow, filter: Readonly<Record<string, string>>): string =>
    hrefOf?.(filter) ?? addressOf('/console/verdicts', { site: verdict.site_key, ...filter });
  return [
    {
      title: 'Time',
      cell: (verdict) => (
        <a href={verdictAddress(verdict)} class="nowrap">
          <Time at={verdict.timestamp} isBrief />
        </a>
      ),
    },
    {
      title: 'Decision',
      cell: (verdict) => (
        <Value href={to(verdict, { decision: verdict.decision })}>
          <DecisionChip decision={verdict.decision} />
        </Value>
      ),
    },
    {
      title: 'Why',
      cell: (verdict) => (
        <Value href={to(verdict, decidedBy(verdict))}>
          <VisitorText text={verdict.reason ?? verdict.decided_by} maxChars={70} />
        </Value>
      ),
    },
    {
      title: 'Request',
      isWide: true,
      heading:
        shared === null || shared === '' ? (
          'Request'
        ) : (
          <>
            Request to <VisitorText text={shared} maxChars={60} />
          </>
        ),
      cell: (verdict) => (
        <>
          <span class="soft">
            <VisitorText text={verdict.method} maxChars={12} />{' '}
            {shared === null && <VisitorText text={verdict.host} maxChars={60} />}
          </span>
          <Value href={to(verdict, { path: verdict.request_path })}>
            <VisitorText text={verdict.request_path} maxChars={120} />
          </Value>
        </>
      ),
    },
    {
      title: 'Address',
      cell: (verdict) =>
        verdict.ip === null ? (
          '–'
        ) : (
          <Value href={to(verdict, { ip: verdict.ip })}>
            <span class="mono" title={verdict.ip}>
              {verdict.ip}
            </span>
          </Value>
        ),
    },
    {
      title: 'Network',
      cell: (verdict) => {
        const { country, asn } = verdict;
        if (asn === null) return country ?? '–';
        return (
          <>
            {country} <Value href={to(verdict, { asn: String(asn) })}>AS{asn}</Value>
          </>
        );
      },
    },
    { title: 'Risk', isNumber: true, cell: ({ risk_score: score }) => score?.toFixed(2) ?? '–' },
    { title: 'Status', isNumber: true, cell: ({ status }) => (status === 0 ? 'left' : status) },
    {
      title: 'User agent',
      isWide: true,
      cell: (verdict) => (
        <>
          {verdict.bot && <BotLinks bot={verdict.bot} to={(filter) => to(verdict, filter)} />}
          <Value
            href={addressOf('/console/find', { site: verdict.site_key, q: verdict.user_agent, kind: 'user-agent' })}
          >
            <VisitorText text={verdict.user_agent} maxChars={90} />
          </Value>
        </>
      ),
    },
  ];
}

/** Which bot it says it is, and how that was proved. */
function BotLinks({ bot: { id, proof }, to }: { bot: NonNullable<VerdictRow['bot']>; to: HrefOf }) {
  return (
    <>
      <Value href={to({ bot: id })}>
        <VisitorText text={id} maxChars={40} />
      </Value>{' '}
      <span class="soft">
        (<Value href={to({ bot: id, proof })}>{proof}</Value>)
      </span>{' '}
    </>
  );
}

/** A rule that decided fired, and finds its other verdicts; whatever else decided is found by its kind. */
function decidedBy({ decided_by: by, fired_rules: fired, source }: VerdictRow): Record<string, string> {
  return fired.some(({ id }) => id === by) ? { rule: by } : { source };
}

/**
 * A value that a click looks for. The keyboard has the fields above the table, so that fifty rows are fifty stops of the
 * tab key and not three hundred.
 */
function Value({ href, children }: { href: string; children: ComponentChildren }) {
  return (
    <a href={href} class="value" tabIndex={-1}>
      {children}
    </a>
  );
}
