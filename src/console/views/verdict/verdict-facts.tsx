/** The request and its visitor, each fact with a link to what else it did. */
import { Facts, Section } from '../../components/page.tsx';
import { Time, VisitorText } from '../../components/values.tsx';
import { addressOf } from '../../url/params.ts';
import type { VerdictRow } from '../verdicts/verdict-table.tsx';

const list = (verdict: VerdictRow, filter: Record<string, string>): string =>
  addressOf('/console/verdicts', { site: verdict.site_key, range: '30d', ...filter });

export function RequestSection({ verdict }: { verdict: VerdictRow }) {
  return (
    <Section title="Request">
      <Facts
        facts={[
          ['Time', <Time at={verdict.timestamp} />],
          ['Method and host', <VisitorText text={`${verdict.method} ${verdict.host}`} />],
          [
            'Path',
            <a href={list(verdict, { path: verdict.request_path })}>
              <VisitorText text={verdict.request_path} />
            </a>,
          ],
          ['Status', verdict.status === 0 ? 'the visitor left before a response' : verdict.status],
          ['Origin', verdict.origin_ms === null ? 'not asked' : `${verdict.origin_ms} ms`],
          ['Edge', `${verdict.edge.colo || '–'}, version ${verdict.edge.version || '–'}`],
          ['Reference', <code>{verdict.request_id}</code>],
        ]}
      />
    </Section>
  );
}

export function VisitorSection({ verdict }: { verdict: VerdictRow }) {
  const { ip, asn, jti, user_agent: userAgent, bot } = verdict;
  return (
    <Section title="Visitor">
      <Facts
        facts={[
          ['Address', ip === null ? '–' : <a href={list(verdict, { ip })}>{ip}</a>],
          ['Country', verdict.country ?? '–'],
          ['Network', asn === null ? '–' : <a href={list(verdict, { asn: String(asn) })}>AS{asn}</a>],
          ['Categories', verdict.ip_category.join(', ') || 'none'],
          ['Device', verdict.device_type],
          ['JA4', <VisitorText text={verdict.ja4} />],
          [
            'User agent',
            userAgent === '' ? (
              '–'
            ) : (
              <a href={addressOf('/console/find', { site: verdict.site_key, q: userAgent, kind: 'user-agent' })}>
                <VisitorText text={userAgent} />
              </a>
            ),
          ],
          [
            'Bot',
            bot ? (
              <>
                <a href={list(verdict, { bot: bot.id })}>
                  <VisitorText text={bot.id} />
                </a>{' '}
                ({bot.behaviours.join(', ')}),{' '}
                <a href={list(verdict, { bot: bot.id, proof: bot.proof })}>{bot.proof}</a>
              </>
            ) : (
              '–'
            ),
          ],
          [
            'Session',
            jti === null ? (
              verdict.session_status
            ) : (
              <a href={addressOf(`/console/sessions/${encodeURIComponent(jti)}`, { site: verdict.site_key })}>
                <VisitorText text={jti} />
              </a>
            ),
          ],
          ['Risk score', verdict.risk_score?.toFixed(2) ?? '–'],
        ]}
      />
    </Section>
  );
}
