/** What happened, newest first, and what became of each delivery. */
import { useCall } from '../../api/call.ts';
import { Chip, Time, VisitorText } from '../../components/values.tsx';
import { CheckField, SelectField } from '../../components/field.tsx';
import { Load, Page } from '../../components/page.tsx';
import { OlderPages } from '../../components/numbered-pages.tsx';
import { Table } from '../../components/table.tsx';
import { instances, siteOf, whenKnown } from '../../frame/instances.ts';
import { type Params, useParams } from '../../url/params.ts';
import { ViewTabs } from '../../components/tabs.tsx';
import { alertKindWords, shownAlertKinds, type ListedAlert, type AlertsBody } from './alert-words.ts';
import { counted } from '../../format/numbers.ts';

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
      <ViewTabs of="Alerts" />
      <div class="filters">
        <SelectField
          label="Kind"
          value={kind ?? ''}
          options={[
            ['', 'any'] as const,
            ...shownAlertKinds.map((one) => [one as string, alertKindWords[one]] as const),
          ]}
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
        emptyTitle={isFiltered ? 'No alert matches' : 'Nothing has happened yet'}
        emptyText={isFiltered ? undefined : 'Add a channel, and send a test to it.'}
      >
        {({ alerts }) => (
          <Table
            caption="Alerts, newest first"
            rows={alerts}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Time', cell: ({ at }) => <Time at={at} isBrief /> },
              { title: 'Kind', cell: ({ kind: one }) => alertKindWords[one] },
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
      <OlderPages next={nextCursor} />
    </Page>
  );
}

function About({ alert: { kind, instanceId, subject, deliveries } }: { alert: ListedAlert }) {
  const instance = instances.value.list?.find(({ id }) => id === instanceId);
  // The subject of a test is the id of its channel.
  const about = kind === 'test' ? (deliveries[0]?.channelName ?? 'a removed channel') : subject;
  const text = [instanceId === null ? '' : (instance?.name ?? instanceId), about].filter((part) => part !== '');
  return <VisitorText text={text.join(', ') || 'the account'} maxChars={60} />;
}

type Delivery = ListedAlert['deliveries'][number];
const states = { waiting: ['warn', 'waits'], sent: ['allow', 'sent'], 'given-up': ['block', 'given up'] } as const;

/** What became of one alert in each channel. */
export function Deliveries({ deliveries }: { deliveries: readonly Delivery[] }) {
  if (deliveries.length === 0) return <span class="soft">no channel wanted it</span>;
  return (
    <ul class="plain-list">
      {deliveries.map((delivery) => (
        <li key={delivery.channelId}>
          <One delivery={delivery} />
        </li>
      ))}
    </ul>
  );
}

function One({ delivery: { channelName, state, attempts, triedAt, dueAt, error } }: { delivery: Delivery }) {
  const [tone, words] = states[state];
  return (
    <>
      <Chip tone={tone}>{words}</Chip> <VisitorText text={channelName ?? 'a removed channel'} maxChars={60} />
      {state === 'sent' && triedAt !== null && (
        <>
          {' '}
          <Time at={triedAt} isBrief />
        </>
      )}
      {state !== 'sent' && attempts > 0 && `, ${counted(attempts, 'attempt')}`}
      {dueAt !== null && (
        <>
          , next <Time at={dueAt} isBrief />
        </>
      )}
      {error !== null && (
        <>
          {': '}
          <VisitorText text={error} maxChars={200} />
        </>
      )}
    </>
  );
}
