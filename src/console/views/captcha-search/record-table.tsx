/** Captcha records as rows, newest first. The time opens the record. */
import { Chip, type Tone } from '../../components/chip.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';
import { addressOf, type Params } from '../../url/params.ts';
import type { CaptchaRecord } from './search-form.ts';

export const statusTones: Record<CaptchaRecord['status'], Tone> = {
  Approved: 'allow',
  Pending: 'challenge',
  Disapproved: 'block',
};

export interface RecordTableProps {
  records: readonly CaptchaRecord[];
  /** Site key → name. */
  names: ReadonlyMap<string, string>;
  params: Params;
}

export function RecordTable({ records, names, params }: RecordTableProps) {
  return (
    <Table
      caption="Captchas, newest first"
      rows={records}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Time',
          cell: ({ id, timestamp }) => (
            <a class="nowrap" href={addressOf('/console/captchas/search', { ...params, record: id })}>
              <Time at={timestamp} isBrief />
            </a>
          ),
        },
        { title: 'Status', cell: ({ status }) => <Chip tone={statusTones[status]}>{status}</Chip> },
        { title: 'Type', cell: ({ captchaType }) => captchaType },
        { title: 'Site', cell: ({ siteKey }) => names.get(siteKey) ?? <VisitorText text={siteKey} maxChars={16} /> },
        { title: 'Address', cell: ({ ip }) => <span class="mono">{ip ?? '–'}</span> },
        { title: 'Country', cell: ({ countryCode }) => countryCode ?? '–' },
        { title: 'Score', isNumber: true, cell: ({ score }) => score?.toFixed(2) ?? '–' },
        { title: 'Result', cell: ({ resultReason }) => <VisitorText text={resultReason} maxChars={60} /> },
        { title: 'Account', cell: ({ userAccount }) => <VisitorText text={userAccount} maxChars={40} /> },
        { title: 'User agent', isWide: true, cell: ({ userAgent }) => <VisitorText text={userAgent} maxChars={90} /> },
      ]}
    />
  );
}
