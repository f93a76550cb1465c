/** Rules of another product, read by the service with a report on each, and taken into the draft. */
import { useState } from 'preact/hooks';
import { call, useAction } from '../../api/call.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import { Button } from '../../components/button.tsx';
import { Chip, VisitorText, type Tone } from '../../components/values.tsx';
import { EmptyState, RefusalNotice, Section } from '../../components/page.tsx';
import { SelectField, TextFileField } from '../../components/field.tsx';
import { Table } from '../../components/table.tsx';
import { toast } from '../../components/toast.tsx';
import { count, counted } from '../../format/numbers.ts';
import { type ImportPlace, withImported } from './draft.ts';
import { actionText, policyModes, textPolicy } from './policy.ts';
import { useForm } from '../../settings/form.tsx';
import { PolicyPage, type PolicyView } from './policy-page.tsx';

type Report = ResponseOf<'/protect/policies/import'>;
type Rule = Report['rules'][number];

const FILE_MAX_BYTES = 1_000_000;
const ROWS_MAX = 250;
const formats = [
  ['cloudflare', 'Cloudflare: expressions, one a line, or the JSON of a ruleset'],
  ['anubis', 'Anubis: a policy file in YAML or JSON'],
] as const;
const actions = [
  ['challenge', 'challenge'],
  ['block', 'block'],
  ['allow', 'allow'],
] as const;
const places = [
  ['end', 'behind the policies of the draft'],
  ['start', 'before them'],
  ['replace', 'in their place'],
] as const;
const outcomes: Readonly<Record<Rule['outcome'], readonly [tone: Tone, text: string]>> = {
  taken: ['allow', 'taken'],
  'taken-with-a-difference': ['warn', 'differs'],
  'not-expressible': ['block', 'not expressible'],
};

const emptyDraft = {
  content: '',
  format: 'cloudflare' as (typeof formats)[number][0],
  mode: 'monitor' as (typeof policyModes)[number][0],
  action: 'challenge' as (typeof actions)[number][0],
};

export default function ImportPolicies() {
  return (
    <PolicyPage
      calls={(siteKey) => [
        { method: 'POST', path: '/protect/policies/import', body: { siteKey, format: 'cloudflare', content: '…' } },
      ]}
    >
      {(view) => (view.mayChange ? <Import {...view} /> : <EmptyState title="You may not change policies" />)}
    </PolicyPage>
  );
}

function Import({ siteKey, state }: PolicyView) {
  const typed = useForm(emptyDraft, {});
  const { content } = typed.draft;
  const [place, setPlace] = useState<ImportPlace>('end');
  const [report, setReport] = useState<Report | null>(null);
  const { isBusy, error, run } = useAction();
  // What is reported is what these fields say, so a change of one makes the report old.
  const write = (change: Partial<typeof emptyDraft>): void => {
    setReport(null);
    typed.write(change);
  };
  const form = { ...typed, write };
  const read = async (): Promise<void> => {
    setReport(await run(call('/protect/policies/import', { siteKey, ...form.draft })));
  };
  const take = (rules: readonly Rule[]): void => {
    const policies = rules.flatMap(({ policy }) => (policy === null ? [] : [textPolicy(policy)]));
    state.edit((draft) => withImported(draft, policies, place));
    write({ content: '' });
    toast(`${counted(policies.length, 'policy is', 'policies are')} in the draft.`);
  };
  return (
    <>
      <Section title="Rules of another product">
        <form
          class="form"
          onSubmit={(event) => {
            event.preventDefault();
            if (!isBusy && content !== '') void read();
          }}
        >
          {form.fields([{ name: 'format', label: 'Format', options: formats }])}
          <TextFileField
            label="Choose a file"
            maxBytes={FILE_MAX_BYTES}
            onChoose={(text) => text !== null && write({ content: text })}
          />
          {form.fields([
            { name: 'content', label: 'Or paste it', isMono: true, rows: 8 },
            { name: 'mode', label: 'Mode', options: policyModes },
            { name: 'action', label: 'Action of rules that have none', options: actions },
          ])}
          <div class="actions">
            <Button type="submit" kind="primary" isBusy={isBusy} isDisabled={content.trim() === ''}>
              Read the rules
            </Button>
          </div>
        </form>
      </Section>
      <RefusalNotice error={error} />
      {report !== null && (
        <Section title="Report">
          <div class="stack">
            <Summary report={report} />
            {report.taken + report.takenWithADifference > 0 && (
              <div class="row">
                <SelectField label="Where they go" value={place} options={places} onChange={setPlace} />
                <Button kind="primary" onClick={() => take(report.rules)}>
                  Take them into the draft
                </Button>
              </div>
            )}
            <Rules rules={report.rules} />
          </div>
        </Section>
      )}
    </>
  );
}

function Summary({ report: { taken, takenWithADifference, notExpressible, notes } }: { report: Report }) {
  return (
    <>
      <p role="status">
        {count(taken)} taken, {count(takenWithADifference)} taken with a difference, {count(notExpressible)} not
        expressible.
      </p>
      {notes.length > 0 && (
        <ul>
          {notes.map((note) => (
            <li key={note}>
              <VisitorText text={note} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

/** Without what is not taken, nobody could see what is missing: those first. */
function Rules({ rules }: { rules: readonly Rule[] }) {
  const sorted = rules.toSorted((one, other) => order(one) - order(other));
  return (
    <>
      <Table
        caption="What became of each rule"
        rows={sorted.slice(0, ROWS_MAX)}
        keyOf={({ place }) => place}
        columns={[
          { title: 'Place', cell: ({ place }) => <VisitorText text={place} maxChars={40} /> },
          {
            title: 'Outcome',
            cell: ({ outcome }) => <Chip tone={outcomes[outcome][0]}>{outcomes[outcome][1]}</Chip>,
          },
          {
            title: 'Rule',
            isWrapped: true,
            cell: ({ source }) => (
              <code>
                <VisitorText text={source} maxChars={300} />
              </code>
            ),
          },
          { title: 'Policy', isWide: true, isWrapped: true, cell: (rule) => <Taken {...rule} /> },
        ]}
      />
      {sorted.length > ROWS_MAX && (
        <p class="hint">And {count(sorted.length - ROWS_MAX)} more. The command line reports on all of them.</p>
      )}
    </>
  );
}

function order({ outcome }: Rule): number {
  return ['not-expressible', 'taken-with-a-difference', 'taken'].indexOf(outcome);
}

function Taken({ policy, reason, differences }: Rule) {
  if (policy === null) return <VisitorText text={reason} />;
  return (
    <>
      <b>{policy.name}</b>: {actionText(policy.then)}, {policy.mode}, where{' '}
      <code>
        <VisitorText text={policy.text} maxChars={300} />
      </code>
      {differences.map((difference) => (
        <p key={difference}>
          <VisitorText text={difference} />
        </p>
      ))}
    </>
  );
}
