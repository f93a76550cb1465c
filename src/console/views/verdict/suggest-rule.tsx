/**
 * Asks before a rule that a verdict suggests is made: what the rule would have changed in the last 24 hours, what it
 * replaces, and for how long it counts.
 */
import { useEffect, useState } from 'preact/hooks';
import { useCall } from '../../api/call.ts';
import type { Refusal } from '../../api/send.ts';
import { Confirm } from '../../components/dialog.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { Load } from '../../components/load.tsx';
import { RefusalNotice, Warning } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';
import { activeInstances } from '../../frame/instances.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { PreviewResult } from '../rules/preview.tsx';
import { expiryAfter, type Lifetime, lifetimes, type Rule, ruleTypes } from '../rules/rule.ts';
import { changeRule, findRule, type FoundRule, type RuleKey } from '../rules/rule-change.ts';

export interface Suggestion {
  /** On the button that opens the dialog, and its title. */
  text: string;
  rule: RuleKey;
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

export function SuggestRule({ siteKey, suggestion, onClose, onDone, ...initial }: SuggestRuleProps) {
  const { text, rule: key, verdict } = suggestion;
  const [lifetime, setLifetime] = useState(suggestion.lifetime);
  const [note, setNote] = useState(initial.note);
  const [found, setFound] = useState<FoundRule | null>(null);
  const [error, setError] = useState<Refusal | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const preview = useCall('/protect/access-rules/preview', { siteKey, rules: [{ ...key, verdict }] });
  useEffect(() => {
    void findRule(siteKey, key).then((answer) => (answer.ok ? setFound(answer.value) : setError(answer.error)));
  }, []);
  const instance = activeInstances().find(({ globalSiteKey }) => globalSiteKey === siteKey);
  const apply = async (known: Rule | null): Promise<void> => {
    setIsBusy(true);
    const next = { ...key, verdict, note: note.trim() || null, expiry: expiryAfter(lifetime, Date.now()) };
    const refusal = await changeRule(siteKey, key, known, next, onDone);
    setIsBusy(false);
    setError(refusal);
    if (refusal !== null) return;
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
      <SelectField
        label="For"
        value={lifetime}
        options={(Object.keys(lifetimes) as Lifetime[]).map((one) => [one, lifetimes[one][0]] as const)}
        onChange={setLifetime}
      />
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
            , until <Time at={Date.parse(rule.expiry)} />
          </>
        )}
        . The new one replaces it, and it does not come back when the new one ends.
      </p>
      {rule.note !== null && <VisitorText text={rule.note} maxChars={200} />}
    </Warning>
  );
}
