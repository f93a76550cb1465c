/** What happened, newest first, and what became of each delivery. */
import { useCall } from '../../api/call.ts';
import { Chip } from '../../components/chip.tsx';
import { CheckField, SelectField } from '../../components/field.tsx';
import { Load } from '../../components/load.tsx';
import { EmptyState } from '../../components/notice.tsx';
import { OlderPages } from '../../components/older-pages.tsx';
import { Page } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';
import { instances, whenKnown, siteOf } from '../../frame/instances.ts';
import { type Params, useParams } from '../../url/params.ts';
import { AlertTabs } from './alert-tabs.tsx';
import { type Alert, type AlertsBody, kindWords, sentKinds } from './alert-words.ts';
import { Deliveries } from './deliveries.tsx';

const ALERTS_PER_PAGE = 50;
const EVERY_MS = 15_000;
const phases = { begins: ['warn', 'begins'], ends: ['allow', 'ends'], once: ['plain', 'once'] } as const;

function bodyOf(params: Params): AlertsBody {
  const { kind, about, cursor } = params;
  return {
    limit: ALERTS_PER_PAGE,
    ...(about === 'instance' ? siteOf(params) : {}),
    ...(cursor === undefined ? {} : { cursor }),
    ...(kind === undefined ? {} : { kind }),
    // The service checks the values; a refused one is named on the page.
  } as AlertsBody;
}

export default function Alerts() {
  const [params, change] = useParams();
  const { kind, about } = params;
  const loaded = useCall('/alerts/list', whenKnown(bodyOf(params)), { everyMs: EVERY_MS });
  const nextCursor = loaded.value?.nextCursor;
  const isFiltered = kind !== undefined || about !== undefined;
  return (
    <Page
      title="Alerts"
      lead="What Gatehouse noticed by itself, kept for 90 days, and whether your channels accepted it."
    >
      <AlertTabs />
      <div class="filters">
        <SelectField
          label="Kind"
          value={kind ?? ''}
          options={[['', 'any'] as const, ...sentKinds.map((one) => [one as string, kindWords[one]] as const)]}
          onChange={(chosen) => change({ kind: chosen, cursor: null })}
        />
        <CheckField
          label="Only about this instance"
          isChecked={about === 'instance'}
          onChange={(isChecked) => change({ about: isChecked ? 'instance' : null, cursor: null })}
        />
      </div>
      <Load
        of={loaded}
        isEmpty={({ alerts }) => alerts.length === 0}
        empty={
          <EmptyState title={isFiltered ? 'No alert matches' : 'Nothing has happened yet'}>
            {!isFiltered && <p>Add a channel, and send a test to it.</p>}
          </EmptyState>
        }
      >
        {({ alerts }) => (
          <Table
            caption="Alerts, newest first"
            rows={alerts}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Time', cell: ({ at }) => <Time at={at} isBrief /> },
              { title: 'Kind', cell: ({ kind: one }) => kindWords[one] },
              { title: 'State', cell: ({ phase }) => <Chip tone={phases[phase][0]}>{phases[phase][1]}</Chip> },
              { title: 'About', cell: (alert) => <About alert={alert} /> },
              {
                title: 'What happened',
                isWide: true,
                isWrapped: true,
                cell: ({ summary }) => <VisitorText text={summary} maxChars={600} />,
              },
              {
                title: 'Deliveries',
                isWrapped: true,
                cell: ({ deliveries }) => <Deliveries deliveries={deliveries} />,
              },
            ]}
          />
        )}
      </Load>
      <OlderPages
        path="/console/alerts"
        params={params}
        place={['cursor']}
        next={typeof nextCursor === 'string' ? { cursor: nextCursor } : null}
      />
    </Page>
  );
}

function About({ alert: { instanceId, subject } }: { alert: Alert }) {
  const instance = instances.value.list?.find(({ id }) => id === instanceId);
  const text = [instanceId === null ? '' : (instance?.name ?? instanceId), subject].filter((part) => part !== '');
  return <VisitorText text={text.join(', ') || 'the account'} maxChars={60} />;
}
