/** One session: its risk as parts over time, what it asked for, what its pages reported, and its erasure. */
import { useLocation, useRoute } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import { call, together, useCall } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { Load, Page, Section, sentenceOf } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import { VisitorText } from '../../components/values.tsx';
import { count, counted } from '../../format/numbers.ts';
import { shownInstance, siteOf, siteParam, whenKnown } from '../../frame/instances.ts';
import { addressOf, useParams } from '../../url/params.ts';
import {
  ScoreTable,
  SessionRequests,
  TelemetryTable,
  type RiskHistory,
  type SessionTelemetry,
} from './session-tables.tsx';
import { RiskChart } from './risk-chart.tsx';
import { SessionFacts, SessionRisk } from './session-facts.tsx';

export default function Session() {
  const { params: route } = useRoute();
  const [params] = useParams();
  const jti = route['jti'] ?? '';
  const asked = whenKnown({ ...siteOf(params), jti });
  const risk = useCall('/protect/risk-history', asked);
  const telemetry = useCall('/protect/session-telemetry', asked);
  const isUnknown =
    risk.value !== null && telemetry.value !== null && risk.value.total === 0 && telemetry.value.session === null;
  return (
    <Page
      title="Session"
      lead={
        <code>
          <VisitorText text={jti} maxChars={80} />
        </code>
      }
      actions={
        <>
          <ButtonLink href={addressOf('/console/verdicts', { ...siteParam(params), jti, range: '30d' })}>
            All verdicts
          </ButtonLink>
          {may('updateProtectSettings') && !isUnknown && <Erase jti={jti} total={risk.value?.total ?? null} />}
        </>
      }
    >
      <Load
        of={together(risk, telemetry)}
        isEmpty={() => isUnknown}
        emptyTitle="Nothing is stored about this session"
        emptyText={
          <>
            It is of another instance, older than verdicts are kept, or erased.{' '}
            <a href={addressOf('/console/find', { ...siteParam(params), q: jti, kind: 'user-agent' })}>
              Look for it as a user agent
            </a>
          </>
        }
      >
        {([history, reported]) => <Details risk={history} telemetry={reported} />}
      </Load>
    </Page>
  );
}

function Details({ risk, telemetry }: { risk: RiskHistory; telemetry: SessionTelemetry }) {
  const [params] = useParams();
  const instance = shownInstance(params);
  return (
    <>
      <Section title="Risk over time">
        <div class="stack">
          <RiskChart
            risk={risk}
            challengeThreshold={instance?.challengeThreshold ?? null}
            blockThreshold={instance?.blockThreshold ?? null}
          />
          <ScoreTable scores={risk.scores} />
        </div>
      </Section>
      <div class="columns">
        <SessionFacts telemetry={telemetry} params={params} />
        <Section title="What its risk is made of">
          <SessionRisk session={telemetry.session} />
        </Section>
      </div>
      <Section title="Requests">
        <p class="hint">
          {risk.history.length < risk.total
            ? `The newest ${count(risk.history.length)} of ${count(risk.total)}.`
            : `${count(risk.total)} in all.`}
        </p>
        <SessionRequests history={risk.history} site={params['site']} />
      </Section>
      <Section title="What its pages reported">
        <TelemetryTable telemetry={telemetry.telemetry} />
      </Section>
    </>
  );
}

function Erase({ jti, total }: { jti: string; total: number | null }) {
  const [params] = useParams();
  const { route } = useLocation();
  const [isAsked, setIsAsked] = useState(false);
  const [isBusy, setIsBusy] = useState(false);
  const erase = async () => {
    setIsBusy(true);
    const answer = await call('/protect/sessions/erase', { ...siteOf(params), jti });
    setIsBusy(false);
    setIsAsked(false);
    if (!answer.ok) {
      toast(sentenceOf(answer.error), { tone: 'failed' });
      return;
    }
    toast(`The session is erased: ${counted(answer.value.erased, 'row')}.`);
    route(addressOf('/console/sessions', siteParam(params)));
  };
  return (
    <>
      <Button kind="danger" onClick={() => setIsAsked(true)}>
        Erase…
      </Button>
      {isAsked && (
        <Confirm
          title="Erase this session?"
          verb="Erase the session"
          isBusy={isBusy}
          onConfirm={() => void erase()}
          onClose={() => setIsAsked(false)}
        >
          <p>
            {total === null ? 'Every verdict' : counted(total, 'verdict')}, every report of its pages, its risk and the
            captchas solved in it are removed, from the counts too. The session ends: the visitor's next request is one
            without a session.
          </p>
          <p>This cannot be undone.</p>
        </Confirm>
      )}
    </>
  );
}
