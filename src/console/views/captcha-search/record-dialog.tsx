/** Everything that is known about one captcha. */
import { Chip } from '../../components/chip.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Facts } from '../../components/facts.tsx';
import { Time } from '../../components/time.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';
import { siteParam } from '../../frame/instances.ts';
import { addressOf, useParams } from '../../url/params.ts';
import type { CaptchaRecord } from './search-form.ts';
import { statusTones } from './record-table.tsx';

export interface RecordDialogProps {
  record: CaptchaRecord;
  /** Name of its site; `null`: unknown. */
  site: string | null;
  onClose: () => void;
}

export function RecordDialog({ record, site, onClose }: RecordDialogProps) {
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
          ['Access control rule', text(record.accessRule)],
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
