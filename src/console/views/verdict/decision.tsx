/** The decision in sentences: what decided, what changed it afterwards, and what would have happened without it. */
import type { Schema } from '../../api/service-api.ts';
import { DecisionChip } from '../../components/chip.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';

type Explanation = Schema<'VerdictExplanation'>;

const policies = {
  enforce: '',
  monitor: 'The instance is in monitor mode: the request was forwarded all the same.',
  'rollout-excluded': 'The visitor is outside the rollout: the request was forwarded all the same.',
} as const;

const laterSteps: Record<NonNullable<Explanation['laterStep']>, string> = {
  clearance: 'A clearance, which the visitor earned with an earlier challenge, let the request through.',
  verified: 'The request brought a solved challenge with it, so it was let through.',
  exempt: 'The path is never challenged, so the request was let through.',
  preflight: 'The request is a CORS preflight, which no browser can solve a challenge for.',
  'no-session': 'The path asks for a session, and the request had none.',
  internal: 'The request is to the gate itself, which no rule decides.',
  error: 'Something failed, and the failure policy of the instance decided.',
};

export function Decision({ explanation }: { explanation: Explanation }) {
  const { verdict, laterStep, tableDecision, without, isExact } = explanation;
  return (
    <div class="stack">
      <p class="decision">
        <DecisionChip decision={verdict.decision} /> by <VisitorText text={verdict.decided_by} maxChars={120} />
      </p>
      <p>
        <VisitorText text={verdict.explain} />
      </p>
      {laterStep !== null && (
        <p>
          {laterSteps[laterStep]}
          {tableDecision !== null && tableDecision !== verdict.decision && (
            <>
              {' '}
              The inputs alone would have said <DecisionChip decision={tableDecision} />.
            </>
          )}
        </p>
      )}
      {policies[verdict.enforcement_policy] !== '' && <p>{policies[verdict.enforcement_policy]}</p>}
      {without !== null && (
        <p>
          Without <VisitorText text={without.by} maxChars={80} />: <DecisionChip decision={without.decision} />, by{' '}
          <VisitorText text={without.decidedBy} maxChars={80} />.
        </p>
      )}
      {!isExact && (
        <p class="hint">
          The record does not have everything that was decided from: an older edge wrote it, or more rules fired than it
          holds.
        </p>
      )}
    </div>
  );
}
