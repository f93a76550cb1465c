/** Why one request was decided as it was, and what to do about it. */
import { useRoute } from 'preact-iso/router';
import { useEffect } from 'preact/hooks';
import { useCall } from '../../api/call.ts';
import type { Schema } from '../../api/service-api.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState, Load, Page, Section } from '../../components/page.tsx';
import { choosableInstances } from '../../frame/instances.ts';
import { useParams } from '../../url/params.ts';
import { DecisionText, InputTable } from './decision.tsx';
import { FiredRules } from './fired-rules.tsx';
import { FiredSettings } from './fired-settings.tsx';
import { NextSteps } from './next-steps.tsx';
import { RequestSection, VisitorSection } from './verdict-facts.tsx';

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
