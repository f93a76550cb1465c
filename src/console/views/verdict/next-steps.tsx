/** Rules that a verdict suggests: let this visitor through for a while, or keep out what they came with. */
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import type { VerdictRow } from '../verdicts/verdict-table.tsx';
import { type Suggestion, SuggestRule } from './suggest-rule.tsx';

/** A rule compares a part of the header of at most so many characters. */
const USER_AGENT_RULE_MAX_CHARS = 300;

export function NextSteps({ verdict, onChanged }: { verdict: VerdictRow; onChanged: () => void }) {
  const [step, setStep] = useState<Suggestion | null>(null);
  const steps = stepsFor(verdict);
  return (
    <>
      <div class="actions">
        {steps.map((one) => (
          <Button key={one.text} kind={one.verdict === 'block' ? 'danger' : 'plain'} onClick={() => setStep(one)}>
            {one.text}…
          </Button>
        ))}
        {steps.length === 0 && <p class="soft">The record has neither an address nor a user agent.</p>}
      </div>
      {step !== null && (
        <SuggestRule
          siteKey={verdict.site_key}
          suggestion={step}
          note={`From verdict ${verdict.request_id}`}
          onClose={() => setStep(null)}
          onDone={onChanged}
        />
      )}
    </>
  );
}

function stepsFor({ ip, asn, user_agent: userAgent }: VerdictRow): Suggestion[] {
  const steps: Suggestion[] = [];
  if (ip !== null) {
    const rule = { type: 'ip', value: ip } as const;
    steps.push({ text: 'Allow this address for an hour', rule, verdict: 'allow', lifetime: '1h' });
    steps.push({ text: 'Block this address', rule, verdict: 'block', lifetime: '24h' });
  }
  if (userAgent.trim() !== '') {
    // As rules are stored: in lower case.
    const value = userAgent.slice(0, USER_AGENT_RULE_MAX_CHARS).toLowerCase();
    steps.push({
      text: 'Block this user agent',
      rule: { type: 'userAgent', value },
      verdict: 'block',
      lifetime: 'none',
    });
  }
  if (asn !== null) {
    const rule = { type: 'asn', value: String(asn) } as const;
    steps.push({ text: `Block the network AS${asn}`, rule, verdict: 'block', lifetime: '24h' });
  }
  return steps;
}
