/** The sessions of an instance, newest first: by risk, by address, by when they last did something. */
import { useState } from 'preact/hooks';
import { useCall } from '../../api/call.ts';
import type { Schema } from '../../api/service-api.ts';
import { Chip, Time, VisitorText } from '../../components/values.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { FilterForm } from '../../components/filter-form.tsx';
import { EmptyState, Load, Page } from '../../components/page.tsx';
import { OlderPages } from '../../components/numbered-pages.tsx';
import { Table, type Column } from '../../components/table.tsx';
import { chosenInstance, siteParam, whenKnown } from '../../frame/instances.ts';
import { addressOf, type Params, useDraft, useParams } from '../../url/params.ts';
import { sessionFilters, sessionsBody } from './sessions-body.ts';

type Row = Schema<'Session'>;
const PARTS_SHOWN_MAX = 3;

export default function Sessions() {
  const [params, change] = useParams();
  const [openedAt] = useState(() => Date.now());
  const loaded = useCall('/protect/sessions', whenKnown(sessionsBody(params, openedAt)));
  return (
    <Page
      title="Sessions"
      lead="Browsers that opened a session and have not lost it. A session that is over stays in the verdicts."
    >
      <Filters params={params} change={change} />
      <Load of={loaded}>
        {({ sessions, nextCursor }) => (
          <>
            {sessions.length === 0 ? (
              <EmptyState title="No session here">
                <p>
                  {nextCursor === null
                    ? 'A session opens when a browser runs the script that the gate puts on its pages.'
                    : 'This part of the list has none that matches. Go on to older ones.'}
                </p>
              </EmptyState>
            ) : (
              <Table
                caption="Sessions, newest first"
                columns={columnsFor(params)}
                rows={sessions}
                keyOf={({ jti }) => jti}
              />
            )}
            <OlderPages
              path="/console/sessions"
              params={params}
              place={['cursor']}
              next={nextCursor === null ? null : { cursor: nextCursor }}
            />
          </>
        )}
      </Load>
    </Page>
  );
}

interface FiltersProps {
  params: Params;
  change: (changes: Readonly<Record<string, string | null>>) => void;
}

function Filters({ params, change }: FiltersProps) {
  const { textOf, write, typed } = useDraft(['ip']);
  const instance = chosenInstance(params);
  const risks = [
    ['', 'any score'] as const,
    ['0.01', 'above 0'] as const,
    ...(instance === null
      ? []
      : ([
          [String(instance.challengeThreshold), `challenged, from ${instance.challengeThreshold}`],
          [String(instance.blockThreshold), `blocked, from ${instance.blockThreshold}`],
        ] as const)),
  ];
  const isFiltered = sessionFilters.some((name) => params[name] !== undefined);
  const cleared = Object.fromEntries(sessionFilters.map((name) => [name, null]));
  return (
    <FilterForm
      verb="Find"
      onSubmit={() => change({ ...typed(), cursor: null })}
      onClear={isFiltered ? () => change({ ...cleared, cursor: null }) : null}
    >
      <SelectField<string>
        label="Risk score"
        value={params['risk'] ?? ''}
        options={risks}
        onChange={(risk) => change({ ...typed(), risk, cursor: null })}
      />
      <SelectField<string>
        label="Last active"
        value={params['range'] ?? ''}
        options={[
          ['', 'at any time'],
          ['1h', 'in the last hour'],
          ['24h', 'in the last 24 hours'],
          ['7d', 'in the last 7 days'],
        ]}
        onChange={(range) => change({ ...typed(), range, cursor: null })}
      />
      <TextField
        label="Address"
        isMono
        placeholder="192.0.2.1"
        value={textOf('ip')}
        maxLength={45}
        onInput={(text) => write('ip', text)}
      />
    </FilterForm>
  );
}

function columnsFor(params: Params): Column<Row>[] {
  return [
    {
      title: 'Session',
      cell: ({ jti }) => (
        <a class="mono" href={addressOf(`/console/sessions/${encodeURIComponent(jti)}`, siteParam(params))}>
          <VisitorText text={jti} maxChars={36} />
        </a>
      ),
    },
    { title: 'Opened', cell: ({ opened_at: at }) => <Time at={at} isBrief /> },
    { title: 'Last active', cell: ({ updated_at: at }) => <Time at={at} isBrief /> },
    { title: 'Risk', isNumber: true, cell: ({ risk_score: score }) => score.toFixed(2) },
    { title: 'Made of', isWide: true, cell: ({ parts }) => <Parts parts={parts} /> },
    { title: 'Address', cell: ({ addresses, network }) => <span class="mono">{addresses.at(-1) ?? network}</span> },
    { title: 'Category', cell: ({ ip_category: categories }) => categories.join(', ') || '–' },
    {
      title: 'Requests a minute',
      heading: <abbr title="Requests a minute">Rate</abbr>,
      isNumber: true,
      cell: ({ requests_per_minute: rate }) => rate,
    },
    { title: 'User agent', isWide: true, cell: ({ user_agent: text }) => <VisitorText text={text} maxChars={90} /> },
  ];
}

function Parts({ parts }: Pick<Row, 'parts'>) {
  if (parts.length === 0) return <span class="soft">–</span>;
  return (
    <span class="chips">
      {parts.slice(0, PARTS_SHOWN_MAX).map(({ detector, weight }) => (
        <Chip key={detector}>
          {detector} +{weight}
        </Chip>
      ))}
      {parts.length > PARTS_SHOWN_MAX && <span class="soft">and {parts.length - PARTS_SHOWN_MAX} more</span>}
    </span>
  );
}
