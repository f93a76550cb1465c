/** One verdict: what was asked, what the gate decided, and why. */
import { useRoute } from 'preact-iso/router';
import { useCall } from '../../api/call.ts';
import { DecisionChip } from '../../components/chip.tsx';
import { Facts, Section } from '../../components/facts.tsx';
import { EmptyState, RefusalNotice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';
import { instances, siteOf, siteParam } from '../../frame/instances.ts';
import { addressOf, useParams } from '../../url/params.ts';
import type { VerdictRow } from '../verdicts/verdict-table.tsx';

export default function Verdict() {
  const { params: route } = useRoute();
  const [params] = useParams();
  const requestId = route['requestId'] ?? '';
  const body = { ...siteOf(params), requestId };
  const { value, error, reload } = useCall('/protect/verdicts', instances.value.list === null ? null : body);
  const verdict = value?.verdicts[0];
  return (
    <Page title="Verdict" calls={[{ method: 'POST', path: '/protect/verdicts', body }]}>
      {error !== null && <RefusalNotice error={error} onRetry={reload} />}
      {value !== null && verdict === undefined && (
        <EmptyState title="No verdict has this reference">
          <p>
            A verdict arrives within seconds of its request, and older ones than the instance keeps are gone. Check the
            instance above.
          </p>
        </EmptyState>
      )}
      {verdict !== undefined && <Details verdict={verdict} params={params} />}
    </Page>
  );
}

const policies = {
  enforce: 'enforced',
  monitor: 'monitor mode: forwarded all the same',
  'rollout-excluded': 'outside the rollout: forwarded all the same',
} as const;

function Details({ verdict, params }: { verdict: VerdictRow; params: Readonly<Record<string, string>> }) {
  const list = (filter: Record<string, string>) => addressOf('/console/verdicts', { ...siteParam(params), ...filter });
  return (
    <>
      <Section title="Decision">
        <div class="stack">
          <p>
            <DecisionChip decision={verdict.decision} /> {policies[verdict.enforcement_policy]}
          </p>
          <p>
            <VisitorText text={verdict.explain} />
          </p>
        </div>
      </Section>
      <div class="columns">
        <Section title="Request">
          <Facts
            facts={[
              ['Time', <Time at={verdict.timestamp} />],
              ['Method and host', <VisitorText text={`${verdict.method} ${verdict.host}`} />],
              ['Path', <VisitorText text={verdict.request_path} />],
              ['Status', verdict.status === 0 ? 'the visitor left before a response' : verdict.status],
              ['Origin', verdict.origin_ms === null ? 'not asked' : `${verdict.origin_ms} ms`],
              ['Reference', <code>{verdict.request_id}</code>],
            ]}
          />
        </Section>
        <Section title="Visitor">
          <Facts
            facts={[
              ['Address', verdict.ip === null ? '–' : <a href={list({ ip: verdict.ip })}>{verdict.ip}</a>],
              ['Country', verdict.country ?? '–'],
              [
                'Network',
                verdict.asn === null ? '–' : <a href={list({ asn: String(verdict.asn) })}>AS{verdict.asn}</a>,
              ],
              ['Categories', verdict.ip_category.join(', ') || 'none'],
              ['Device', verdict.device_type],
              ['JA4', <VisitorText text={verdict.ja4} />],
              ['User agent', <VisitorText text={verdict.user_agent} />],
              [
                'Session',
                verdict.jti === null ? verdict.session_status : <a href={list({ jti: verdict.jti })}>{verdict.jti}</a>,
              ],
              ['Risk score', verdict.risk_score?.toFixed(2) ?? '–'],
            ]}
          />
        </Section>
      </div>
    </>
  );
}
