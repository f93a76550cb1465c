/** Why one request was decided as it was, and what to do about it. */
import { useRoute } from 'preact-iso/router';
import { useEffect } from 'preact/hooks';
import { useCall } from '../../api/call.ts';
import type { Schema } from '../../api/service-api.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState, Facts, Load, Page, Section } from '../../components/page.tsx';
import { choosableInstances } from '../../frame/instances.ts';
import { addressOf, useParams } from '../../url/params.ts';
import { DecisionText, InputTable } from './decision.tsx';
import { FiredRules } from './fired-rules.tsx';
import { FiredSettings } from './fired-settings.tsx';
import { NextSteps } from './next-steps.tsx';
import { Time, VisitorText } from '../../components/values.tsx';
import type { VerdictRow } from '../verdicts/verdict-table.tsx';

type Explanation = Schema<'VerdictExplanation'>;

const words = { allow: 'allowed', challenge: 'challenged', block: 'blocked' } as const;

export default function Verdict() {
  const { params: route } = useRoute();
  const [params, change] = useParams();
  // A reference is of one instance only, so that people need not know which.
  const body = { requestId: route['requestId'] ?? '' };
  const loaded = useCall('/protect/verdicts/explain', body);
  const { value, error, reload } = loaded;
  const isShown = value !== null && value.verdict.request_id === body.requestId.toLowerCase();
  const site = isShown ? value.verdict.site_key : undefined;
  useEffect(() => {
    // The frame shows the instance that the verdict is of.
    const isOther = site !== undefined && params['site'] !== site;
    if (isOther && choosableInstances().length > 1) change({ site }, true);
  }, [site]);
  return (
    <Page title={isShown ? `Why this was ${words[value.verdict.decision]}` : 'Verdict'}>
      <Load of={error?.status === 404 ? { ...loaded, error: null } : loaded} />
      {error?.status === 404 && !isShown && (
        <EmptyState title="No verdict has this reference">
          <p>{error.message}</p>
          <Button onClick={reload}>Look again</Button>
        </EmptyState>
      )}
      {isShown && <Details explanation={value} onChanged={reload} />}
    </Page>
  );
}

function Details({ explanation, onChanged }: { explanation: Explanation; onChanged: () => void }) {
  const { verdict, table, riskParts } = explanation;
  return (
    <>
      <Section title="Decision">
        <DecisionText explanation={explanation} />
      </Section>
      {may('updateProtectSettings') && (
        <Section title="What to do">
          <NextSteps verdict={verdict} onChanged={onChanged} />
        </Section>
      )}
      <Section title="What each input said">
        <InputTable table={table} riskParts={riskParts} score={verdict.risk_score} />
      </Section>
      <Section title="Policies, limits and lists that it met">
        <FiredSettings verdict={verdict} />
      </Section>
      <Section title="Rules that fired">
        <FiredRules explanation={explanation} onChanged={onChanged} />
      </Section>
      <div class="columns">
        <RequestSection verdict={verdict} />
        <VisitorSection verdict={verdict} />
      </div>
    </>
  );
}

/** Where a fact about the request or its visitor leads: to what else has it. */
const list = (verdict: VerdictRow, filter: Record<string, string>): string =>
  addressOf('/console/verdicts', { site: verdict.site_key, range: '30d', ...filter });

function RequestSection({ verdict }: { verdict: VerdictRow }) {
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

function VisitorSection({ verdict }: { verdict: VerdictRow }) {
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
