/** What can be done about a verdict: rules that the visitor suggests, each tried before it is made. */
import { useEffect, useState } from 'preact/hooks';
import { useAction, useCall } from '../../api/call.ts';
import { Confirm } from '../../components/dialog.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { Load, RefusalNotice, Warning } from '../../components/page.tsx';
import { Time, VisitorText } from '../../components/values.tsx';
import { choosableInstances } from '../../frame/instances.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { PreviewResult } from '../rules/preview.tsx';
import { expiryAfter, lifetimeOptions, ruleTypes, type Lifetime, type Rule } from '../rules/rule.ts';
import { changeRule, findRule, type FoundRule, type MatchedValue } from '../rules/rule-change.ts';
import { Button } from '../../components/button.tsx';
import type { VerdictRow } from '../verdicts/verdict-table.tsx';

export interface Suggestion {
  /** On the button that opens the dialog, and its title. */
  text: string;
  rule: MatchedValue;
  verdict: 'allow' | 'block';
  lifetime: Lifetime;
}

export interface SuggestRuleProps {
  siteKey: string;
  suggestion: Suggestion;
  note: string;
  onClose: () => void;
  onDone: () => void;
}

const verbs = { allow: 'Allow', block: 'Block' } as const;

/**
 * Asks before a rule that a verdict suggests is made: what the rule would have changed in the last 24 hours, what it
 * replaces, and for how long it counts.
 */
export function SuggestRule({ siteKey, suggestion, onClose, onDone, ...initial }: SuggestRuleProps) {
  const { text, rule: key, verdict } = suggestion;
  const [lifetime, setLifetime] = useState(suggestion.lifetime);
  const [note, setNote] = useState(initial.note);
  const [found, setFound] = useState<FoundRule | null>(null);
  const { isBusy, error, run } = useAction();
  const preview = useCall('/protect/access-rules/preview', { siteKey, rules: [{ ...key, verdict }] });
  useEffect(() => {
    void run(findRule(siteKey, key)).then(setFound);
  }, []);
  const instance = choosableInstances().find(({ globalSiteKey }) => globalSiteKey === siteKey);
  const apply = async (known: Rule | null): Promise<void> => {
    const next = { ...key, verdict, note: note.trim() || null, expiry: expiryAfter(lifetime, Date.now()) };
    if ((await run(changeRule(siteKey, key, known, next, onDone))) === null) return;
    onClose();
    onDone();
  };
  return (
    <Confirm
      title={text}
      verb={verbs[verdict]}
      isDangerous={verdict === 'block'}
      isBusy={isBusy}
      isConfirmed={found !== null}
      onConfirm={() => found !== null && void apply(found.rule)}
      onClose={onClose}
    >
      <p>
        {ruleTypes[key.type].name}{' '}
        <span class="mono">
          <VisitorText text={key.value} />
        </span>
      </p>
      {verdict === 'allow' && (
        <p class="hint">The allow is final: no other rule, category, risk score or policy counts for this address.</p>
      )}
      {instance?.monitor === true && (
        <Warning>
          The instance is in monitor mode: the edge records what the rule says and forwards the request.
        </Warning>
      )}
      {found !== null && found.rule !== null && <Replaced rule={found.rule} />}
      <div class="preview-room">
        {preview.value === null && preview.error === null && <p class="soft">Trying it on the last 24 hours…</p>}
        <Load of={preview}>{(result) => <PreviewResult preview={result} />}</Load>
      </div>
      <SelectField label="For" value={lifetime} options={lifetimeOptions} onChange={setLifetime} />
      <TextField label="Note" value={note} maxLength={forms.accessRule.note.maxLength} onInput={setNote} />
      <RefusalNotice error={error} />
    </Confirm>
  );
}

function Replaced({ rule }: { rule: Rule }) {
  return (
    <Warning>
      <p>
        There is a rule for this already: <b>{rule.verdict}</b>
        {rule.mode === 'monitor' && ', only monitored'}
        {rule.expired && ', expired'}
        {rule.expiry !== null && (
          <>
            , until <Time at={rule.expiry} />
          </>
        )}
        . The new one replaces it, and it does not come back when the new one ends.
      </p>
      {rule.note !== null && <VisitorText text={rule.note} maxChars={200} />}
    </Warning>
  );
}

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
