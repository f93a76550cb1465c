/** The draft on one request: what each policy answers, and what becomes of it. And on the requests of the log. */
import { useState } from 'preact/hooks';
import { ipCategories, sessionStatuses } from '../../../contract/vocabulary.ts';
import { call, useAction } from '../../api/call.ts';
import { Button } from '../../components/button.tsx';
import { Chip, type Tone } from '../../components/values.tsx';
import { ChoiceField } from '../../components/choice.tsx';
import { RefusalNotice, Section } from '../../components/page.tsx';
import { TextField } from '../../components/field.tsx';
import { Table } from '../../components/table.tsx';
import { policiesOf } from './draft.ts';
import type { TextPolicy } from './policy.ts';
import { type Form, type FormField, useForm } from '../../settings/form.tsx';
import { PolicyPage, type PolicyView } from './policy-page.tsx';
import {
  answersOf,
  noFacts,
  outcomeText,
  trialRequest,
  type Trial,
  type TrialAnswer,
  type TrialVisitor,
} from './trial.ts';
import { usePolicyPreview } from './policy-preview.tsx';

const example = { request: { url: '…' } };

export default function TryPolicies() {
  return (
    <PolicyPage
      calls={(siteKey) => [
        { method: 'POST', path: '/protect/policies/test', body: { siteKey, ...example } },
        { method: 'POST', path: '/protect/policies/preview', body: { siteKey } },
      ]}
    >
      {(view) => (
        <>
          <TestRequest {...view} />
          <PreviewLog {...view} />
        </>
      )}
    </PolicyPage>
  );
}

function TestRequest({ siteKey, state: { draft, changes } }: PolicyView) {
  const [pasted, setPasted] = useState('');
  const visitor = useForm(noFacts, {});
  const { isBusy, error, run } = useAction();
  const [unread, setUnread] = useState<string | null>(null);
  const [done, setDone] = useState<{ trial: Trial; policies: readonly TextPolicy[] } | null>(null);
  const test = async (): Promise<void> => {
    const request = trialRequest(pasted, visitor.draft);
    setUnread(request.ok ? null : request.error);
    if (!request.ok) return;
    const policies = policiesOf(draft.entries);
    const body = { siteKey, ...request.value, ...(changes.length === 0 ? {} : { policies }) };
    const trial = await run(call('/protect/policies/test', body));
    setDone(trial === null ? null : { trial, policies });
  };
  return (
    <Section title={changes.length === 0 ? 'Test on a request' : 'Test the draft on a request'}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isBusy) void test();
        }}
      >
        <TextField
          label="Request"
          hint="A curl command, HTTP as text, an address, the JSON of the API, or the reference of a logged request."
          isMono
          rows={6}
          placeholder={'POST /login HTTP/1.1\nHost: shop.example\nCookie: seen=1'}
          value={pasted}
          onInput={setPasted}
          error={unread}
        />
        <Visitor form={visitor} />
        <div class="actions">
          <Button type="submit" kind="primary" isBusy={isBusy} isDisabled={pasted.trim() === ''}>
            Test
          </Button>
        </div>
      </form>
      <RefusalNotice error={error} />
      {done !== null && <Answers {...done} />}
    </Section>
  );
}

const visitorFields: readonly FormField<TrialVisitor>[] = [
  { name: 'ip', label: 'Address', placeholder: '192.0.2.1' },
  { name: 'country', label: 'Country', placeholder: 'DE' },
  { name: 'asn', label: 'AS number', placeholder: '64496' },
  { name: 'ja4', label: 'JA4 fingerprint', placeholder: '' },
  { name: 'riskScore', label: 'Risk score', placeholder: '0.5' },
  { name: 'sessionStatus', label: 'Session', options: [['', 'none'], ...sessionStatuses] },
];

function Visitor({ form }: { form: Form<TrialVisitor> }) {
  return (
    <details class="more">
      <summary>About the visitor</summary>
      <div class="filters">
        {form.fields(visitorFields)}
        <ChoiceField
          label="Categories of the address"
          options={ipCategories}
          chosen={form.draft.ipCategories}
          onChange={(chosen) => form.write({ ipCategories: chosen })}
        />
      </div>
    </details>
  );
}

const tones: Readonly<Record<TrialAnswer['applies'], Tone>> = { true: 'info', false: 'plain', unknown: 'warn' };

function Answers({ trial, policies }: { trial: Trial; policies: readonly TextPolicy[] }) {
  return (
    <div class="stack">
      <p role="status">
        <b>{outcomeText(trial)}</b> Access rules, bots, address categories, risk and limits may decide otherwise.
        {trial.unknown.length > 0 && ` The log keeps nothing of ${trial.unknown.join(', ')}.`}
      </p>
      {policies.length > 0 && (
        <Table
          caption="What each policy answers"
          rows={answersOf(policies, trial)}
          keyOf={({ policy }) => policy.name}
          columns={[
            { title: 'Place', isNumber: true, width: '4rem', cell: ({ place }) => place },
            { title: 'Policy', width: '14rem', cell: ({ policy }) => policy.name },
            {
              title: 'Applies',
              width: '8rem',
              cell: ({ applies }) => <Chip tone={tones[applies]}>{applies}</Chip>,
            },
            { title: 'What it does', isWide: true, width: '1fr', cell: ({ effect }) => effect || '–' },
          ]}
        />
      )}
    </div>
  );
}

/** What the requests of the last day would have got under the draft. */
function PreviewLog({ siteKey, state: { draft, changes } }: PolicyView) {
  const isDraft = changes.length > 0;
  const { button, error, result } = usePolicyPreview(siteKey, isDraft ? { policies: policiesOf(draft.entries) } : {});
  return (
    <Section title={isDraft ? 'Preview the draft on the log' : 'Preview on the log'} actions={button}>
      <p class="hint">
        The newest requests of the last 24 hours, as they would be decided. Nothing changes. The log keeps no headers,
        cookies and queries: where the decision depends on one, it cannot be told.
      </p>
      <RefusalNotice error={error} />
      {result}
    </Section>
  );
}
