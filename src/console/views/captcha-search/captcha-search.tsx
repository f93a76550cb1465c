/** Single captchas, found by any of their facts, page by page; and one of them with everything that is known. */
import { useCall } from '../../api/call.ts';
import { EmptyState, Facts, Load, Page, Warning } from '../../components/page.tsx';
import { OlderPages } from '../../components/numbered-pages.tsx';
import { RangePicker } from '../../components/range-picker.tsx';
import { counted } from '../../format/numbers.ts';
import { addressOf, type Params, useParams, useWindow } from '../../url/params.ts';
import { FilterForm } from '../../components/filter-form.tsx';
import { ViewTabs } from '../../components/tabs.tsx';
import { siteOptions, useSites } from '../captchas/sites.ts';
import { type FoundCaptcha, searchBody, searchFields } from './search-form.ts';
import { Chip, Time, VisitorText, type Tone } from '../../components/values.tsx';
import { Table } from '../../components/table.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { siteParam } from '../../frame/instances.ts';

const PLACE = ['lastId', 'lastTimestamp'];

export default function CaptchaSearch() {
  const [params, change] = useParams();
  const window = useWindow();
  const sites = useSites();
  const loaded = useCall('/audit/searchcaptcharecords', searchBody(params, window));
  const names = new Map((sites.value ?? []).map(({ siteKey, name }) => [siteKey, name]));
  const opened = loaded.value?.records.find(({ id }) => id === params['record']);
  return (
    <Page
      title="Captchas"
      lead="Find single captchas. The search reaches back 30 days."
      actions={<RangePicker window={window} />}
    >
      <ViewTabs of="Captchas" />
      <FilterForm
        verb="Search"
        fields={[
          { param: 'captchaSite', label: 'Site', none: 'every site', options: siteOptions(sites.value) },
          ...searchFields.map((field) => ({ maxLength: 1024, ...field })),
        ]}
        place={[...PLACE, 'record']}
      />
      <Load of={loaded}>
        {(value) => (
          <>
            <p class="soft" role="status">
              {value.totalIsExact === false ? 'At least ' : ''}
              {counted(value.total, 'captcha')}
            </p>
            {value.totalIsExact === false && (
              <Warning>
                The search stopped at the most records that it reads in one call. “Older” goes on from there.
              </Warning>
            )}
            {value.records.length === 0 ? (
              <EmptyState title="No captcha matches">
                <p>Choose a longer time or clear a field. All fields must match.</p>
              </EmptyState>
            ) : (
              <RecordTable records={value.records} names={names} params={params} />
            )}
            <OlderPages
              place={PLACE}
              next={
                value.hasMore && value.lastId !== undefined
                  ? { lastId: value.lastId, lastTimestamp: String(value.lastTimestamp ?? '') }
                  : null
              }
            />
          </>
        )}
      </Load>
      {opened !== undefined && (
        <RecordDialog
          record={opened}
          site={names.get(opened.siteKey) ?? null}
          onClose={() => change({ record: null }, true)}
        />
      )}
    </Page>
  );
}

const statusTones: Record<FoundCaptcha['status'], Tone> = {
  Approved: 'allow',
  Pending: 'challenge',
  Disapproved: 'block',
};

interface RecordTableProps {
  records: readonly FoundCaptcha[];
  /** Site key → name. */
  names: ReadonlyMap<string, string>;
  params: Params;
}

/** Captcha records as rows, newest first. The time opens the record. */
function RecordTable({ records, names, params }: RecordTableProps) {
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

interface RecordDialogProps {
  record: FoundCaptcha;
  /** Name of its site; `null`: unknown. */
  site: string | null;
  onClose: () => void;
}

/** Everything that is known about one captcha. */
function RecordDialog({ record, site, onClose }: RecordDialogProps) {
  const [params] = useParams();
  const verdicts = (filter: Record<string, string>) =>
    addressOf('/console/verdicts', { ...siteParam(params), range: '30d', ...filter });
  return (
    <Dialog title="One captcha" onClose={onClose} isWide>
      <Facts
        facts={[
          ['Status', <Chip tone={statusTones[record.status]}>{record.status}</Chip>],
          ['Result', text(record.resultReason)],
          ['Type', record.captchaType],
          ['Site', site ?? text(record.siteKey)],
          ['Issued', <Time at={record.timestamp} />],
          ['Submitted', <Time at={record.submittedAt} />],
          ['Verified by a backend', <Time at={record.verifiedAt} />],
          ['Verified', record.verified === null ? 'not asked' : yesNo(record.verified)],
          ['Score', `${record.score?.toFixed(2) ?? '–'}, harder above ${record.threshold?.toFixed(2) ?? '–'}`],
          ['Detectors', record.triggeredDetectors.join(', ') || 'none'],
          ['Why this type', text(record.selectionReason)],
          ['Captcha rule', text(record.accessRule)],
          ['Policy', record.policyType ?? '–'],
          ['Lane', record.lane ?? '–'],
          ['Address', record.ip === null ? '–' : <a href={verdicts({ ip: record.ip })}>{record.ip}</a>],
          ['Country', record.countryCode ?? '–'],
          ['Network', record.asn === null ? '–' : <a href={verdicts({ asn: String(record.asn) })}>AS{record.asn}</a>],
          ['Categories', record.ipCategories.join(', ') || 'none'],
          ['Device', record.deviceType],
          ['User agent', text(record.userAgent)],
          ['JA4', text(record.ja4)],
          ['Host', text(record.host)],
          ['Action', text(record.action)],
          ['User account', text(record.userAccount)],
          [
            'Session',
            record.sessionId === null ? (
              '–'
            ) : (
              <a href={addressOf(`/console/sessions/${encodeURIComponent(record.sessionId)}`, siteParam(params))}>
                <VisitorText text={record.sessionId} />
              </a>
            ),
          ],
          ['Web view', record.webView === null ? '–' : yesNo(record.webView)],
          ['In a frame', record.iFrame === null ? '–' : yesNo(record.iFrame)],
          ['Id', <code>{record.id}</code>],
        ]}
      />
    </Dialog>
  );
}

const yesNo = (value: boolean): string => (value ? 'yes' : 'no');
const text = (value: string | null) => <VisitorText text={value} maxChars={300} />;
