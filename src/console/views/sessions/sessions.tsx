/** The sessions of an instance, newest first: by risk, by address, by when they last did something. */
import { useState } from 'preact/hooks';
import { useCall } from '../../api/call.ts';
import type { RequestOf, Schema } from '../../api/service-api.ts';
import { Chip } from '../../components/chip.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { FilterForm } from '../../components/filter-form.tsx';
import { EmptyState, RefusalNotice } from '../../components/notice.tsx';
import { OlderPages } from '../../components/older-pages.tsx';
import { Page } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';
import { chosenInstance, instances, siteOf, siteParam } from '../../frame/instances.ts';
import { addressOf, useParams } from '../../url/params.ts';
import { useDraft } from '../../url/use-draft.ts';
import type { Params } from '../../url/params.ts';
import { ranges } from '../../url/window.ts';
import type { Range } from '../../url/window.ts';

type Row = Schema<'Session'>;
const SESSIONS_PER_PAGE = 50;
const MINUTE_MS = 60_000;
const PARTS_SHOWN_MAX = 3;

export default function Sessions() {
  const [params, change] = useParams();
  const [openedAt] = useState(() => Date.now());
  const body = bodyOf(params, openedAt);
  const { value, error, reload } = useCall('/protect/sessions', instances.value.list === null ? null : body);
  return (
    <Page
      title="Sessions"
      lead="Browsers that opened a session and have not lost it. A session that is over stays in the verdicts."
      calls={[{ method: 'POST', path: '/protect/sessions', body }]}
    >
      <Filters params={params} change={change} />
      {error !== null && <RefusalNotice error={error} onRetry={reload} />}
      {value !== null && (
        <>
          {value.sessions.length === 0 ? (
            <EmptyState title="No session here">
              <p>
                {value.nextCursor === null
                  ? 'A session opens when a browser runs the script that the gate puts on its pages.'
                  : 'This part of the list has none that matches. Go on to older ones.'}
              </p>
            </EmptyState>
          ) : (
            <Table
              caption="Sessions, newest first"
              columns={columnsFor(params)}
              rows={value.sessions}
              keyOf={({ jti }) => jti}
            />
          )}
          <OlderPages
            path="/console/sessions"
            params={params}
            place={['cursor']}
            next={value.nextCursor === null ? null : { cursor: value.nextCursor }}
          />
        </>
      )}
    </Page>
  );
}

/** A cursor belongs to its filters, so a moving `since` stands still while the view is open. */
function bodyOf(params: Params, openedAt: number): RequestOf<'/protect/sessions'> {
  const { ip, risk, range, cursor } = params;
  const span = Object.hasOwn(ranges, range ?? '') ? ranges[range as Range] : null;
  return {
    ...siteOf(params),
    limit: SESSIONS_PER_PAGE,
    ...(ip === undefined ? {} : { ip }),
    ...(risk === undefined ? {} : { minRisk: Number(risk) }),
    ...(span === null ? {} : { since: Math.floor((openedAt - span) / MINUTE_MS) * MINUTE_MS }),
    ...(cursor === undefined ? {} : { cursor }),
  };
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
  const isFiltered = (params['ip'] ?? params['risk'] ?? params['range']) !== undefined;
  return (
    <FilterForm
      verb="Find"
      onSubmit={() => change({ ...typed(), cursor: null })}
      onClear={isFiltered ? () => change({ ip: null, risk: null, range: null, cursor: null }) : null}
    >
      <SelectField<string>
        label="Risk score"
        value={params['risk'] ?? ''}
        options={risks}
        onChange={(risk) => change({ risk, cursor: null })}
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
        onChange={(range) => change({ range, cursor: null })}
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
          <VisitorText text={jti} maxChars={24} />
        </a>
      ),
    },
    { title: 'Opened', cell: ({ opened_at: at }) => <Time at={at} /> },
    { title: 'Last active', cell: ({ updated_at: at }) => <Time at={at} /> },
    { title: 'Risk', isNumber: true, cell: ({ risk_score: score }) => score.toFixed(2) },
    { title: 'Made of', cell: ({ parts }) => <Parts parts={parts} /> },
    { title: 'Address', cell: ({ addresses, network }) => <span class="mono">{addresses.at(-1) ?? network}</span> },
    { title: 'Category', cell: ({ ip_category: categories }) => categories.join(', ') || '–' },
    { title: 'Requests a minute', isNumber: true, cell: ({ requests_per_minute: rate }) => rate },
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
