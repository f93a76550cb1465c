/** The sessions of an instance, newest first: by risk, by address, by when they last did something. */
import { useState } from 'preact/hooks';
import { useCall } from '../../api/call.ts';
import type { Schema } from '../../api/service-api.ts';
import { DetectorList } from '../../components/detector-list.tsx';
import { Time, VisitorText } from '../../components/values.tsx';
import { FilterForm } from '../../components/filter-form.tsx';
import { EmptyState, Load, Page } from '../../components/page.tsx';
import { OlderPages } from '../../components/numbered-pages.tsx';
import { Table, type TableColumn } from '../../components/table.tsx';
import { shownInstance, siteParam, whenKnown } from '../../frame/instances.ts';
import { addressOf, type Params, useParams } from '../../url/params.ts';
import { sessionFields, sessionsBody } from './sessions-body.ts';

type Row = Schema<'Session'>;
const PARTS_SHOWN_MAX = 3;

export default function Sessions() {
  const [params] = useParams();
  const [openedAt] = useState(() => Date.now());
  const loaded = useCall('/protect/sessions', whenKnown(sessionsBody(params, openedAt)));
  return (
    <Page
      title="Sessions"
      lead="Browsers that opened a session and have not lost it. A session that is over stays in the verdicts."
    >
      <FilterForm verb="Find" fields={sessionFields(shownInstance(params))} place={['cursor']} />
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
            <OlderPages next={nextCursor} />
          </>
        )}
      </Load>
    </Page>
  );
}

function columnsFor(params: Params): TableColumn<Row>[] {
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
    { title: 'Made of', isWrapped: true, cell: ({ parts }) => <Parts parts={parts} /> },
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
    <DetectorList parts={parts.slice(0, PARTS_SHOWN_MAX)}>
      {parts.length > PARTS_SHOWN_MAX && <li class="soft">and {parts.length - PARTS_SHOWN_MAX} more</li>}
    </DetectorList>
  );
}
