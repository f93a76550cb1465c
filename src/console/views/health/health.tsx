/** Whether the instance and the service are well: each sign with its value, what is normal, and what to do. */
import { useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import { useCall } from '../../api/call.ts';
import { Button } from '../../components/button.tsx';
import { Chip, Time } from '../../components/values.tsx';
import { EmptyState, Load, Page, Section } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { toast } from '../../components/toast.tsx';
import { count, counted, duration } from '../../format/numbers.ts';
import { instanceAddress, instancesLoaded, shownInstance, type Instance } from '../../frame/instances.ts';
import { type TimeWindow, useParams, useWindow } from '../../url/params.ts';
import { AttackNotice } from '../attack/attack-notice.tsx';
import { advice } from './advice.ts';
import { sampleOf, seenOf, type EdgesFinding, type Finding, type State } from './findings.ts';
import type { MetricFamily, MetricSample } from './exposition.ts';
import { Edges } from './edges.tsx';
import { Latency } from './latency.tsx';
import { NamedOrigins } from './origins.tsx';
import { rememberSeen, type HealthFacts, useHealth } from './use-health.ts';

const EVERY_MS = 10_000;

interface Row {
  key: string;
  title: string;
  /** The name in the metrics. */
  metric?: string;
  state: State;
  value: ComponentChildren;
  normal: string;
  todo: ComponentChildren;
}

const order: readonly State[] = ['act', 'look', 'fine'];
const chips = { fine: ['allow', 'fine'], look: ['warn', 'look'], act: ['block', 'act'] } as const;

export default function Health() {
  const [params] = useParams();
  const window = useWindow();
  const instance = shownInstance(params);
  return (
    <Page
      title="Health"
      lead={instance === null ? undefined : <>Instance {instance.name}. Asked again every ten seconds.</>}
    >
      <Load of={{ ...instancesLoaded(), calls: [] }}>
        {() =>
          instance === null && (
            <EmptyState title="No instance yet">
              <p>
                The <a href="/console/guide">installation guide</a> creates the first one.
              </p>
            </EmptyState>
          )
        }
      </Load>
      {instance !== null && <Signs key={instance.id} instance={instance} window={window} />}
    </Page>
  );
}

function Signs({ instance, window }: { instance: Instance; window: TimeWindow }) {
  const health = useHealth(instance, EVERY_MS);
  const newest = useCall('/protect/verdicts', { siteKey: instance.globalSiteKey, limit: 1 }, { everyMs: EVERY_MS });
  const [, setTurn] = useState(0);
  const { findings, families, seen, loaded } = health;
  const seeAll = (): void => {
    if (findings === null) return;
    rememberSeen(instance.id, seenOf(findings));
    setTurn((turn) => turn + 1);
    toast('Counters are shown from now on.');
  };
  const found = (findings ?? []).map(rowOf);
  const rows = [
    ...ownRows(instance, health, newest.value?.verdicts[0]?.timestamp ?? null, newest.value !== null),
    ...found.filter(({ state }) => state !== 'fine'),
  ].toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  const fine = found.filter(({ state }) => state === 'fine');
  const open = rows.filter(({ state }) => state !== 'fine').length;
  return (
    <>
      <Load of={loaded} />
      <AttackNotice instance={instance} />
      <Section
        title={
          findings === null
            ? 'Signs'
            : open === 0
              ? 'Nothing needs you'
              : `${counted(open, 'of these needs', 'of these need')} you`
        }
        actions={
          <>
            <span class="soft">
              {seen.at === null ? (
                'Counters since the beginning'
              ) : (
                <>
                  Counters since <Time at={seen.at} />
                </>
              )}
            </span>
            <Button isSmall isDisabled={findings === null} onClick={seeAll}>
              I have seen them all
            </Button>
          </>
        }
      >
        <SignTable caption="Signs of health" rows={rows} />
      </Section>
      <Edges list={health.edges} now={Date.now()} />
      <NamedOrigins instance={instance} families={families} seen={seen.values} />
      <Latency instance={instance} window={window} />
      <details class="more">
        <summary>{count(fine.length)} counters are fine</summary>
        <SignTable caption="Counters that are fine" rows={fine} />
      </details>
      <AllMetrics families={families} instanceId={instance.id} />
    </>
  );
}

function SignTable({ caption, rows }: { caption: string; rows: readonly Row[] }) {
  return (
    <Table
      caption={caption}
      rows={rows}
      keyOf={({ key }) => key}
      columns={[
        {
          title: 'State',
          cell: ({ state }) => <Chip tone={chips[state][0]}>{chips[state][1]}</Chip>,
        },
        {
          title: 'Sign',
          isWrapped: true,
          cell: ({ title, metric }) => (
            <>
              <b>{title}</b>
              {metric !== undefined && (
                <div class="soft">
                  <code>{metric}</code>
                </div>
              )}
            </>
          ),
        },
        { title: 'Now', isWrapped: true, cell: ({ value }) => value },
        { title: 'Normal', isWrapped: true, cell: ({ normal }) => normal },
        {
          title: 'What to do',
          isWide: true,
          isWrapped: true,
          cell: ({ state, todo }) => (state === 'fine' ? <span class="soft">{todo}</span> : todo),
        },
      ]}
    />
  );
}

/** The signs that are no counters of the edge. */
function ownRows(
  instance: Instance,
  { service, jwt, edgesFinding, families }: HealthFacts,
  newestAt: number | null,
  isNewestKnown: boolean,
): Row[] {
  const gauge = (name: string) => sampleOf(families, name, { instance: instance.id });
  const [version, ageSeconds] = [gauge('ruleset_version'), gauge('ruleset_age_seconds')];
  const jwts = `${instanceAddress(instance)}?tab=jwts`;
  return [
    {
      key: 'service',
      title: 'Service',
      state: service === null || service.status === 'ok' ? 'fine' : 'act',
      value: service === null ? '–' : [service.status, ...(service.warnings ?? [])].join('. '),
      normal: 'ok',
      todo: 'The warning names the cause, and the log of the service has the rest.',
    },
    {
      key: 'edges',
      title: 'Contact of the edges',
      state: edgesFinding?.state ?? 'fine',
      value: edgesFinding === null ? '–' : contactOf(edgesFinding),
      normal: 'Seconds ago, or a minute without visitors.',
      todo: (
        <>
          Check that the edge runs and reaches the service, and its <a href={jwts}>client JWT</a>: revoke one that was
          replaced. The <a href="/console/guide">installation guide</a> has the commands.
        </>
      ),
    },
    {
      key: 'newest',
      title: 'Newest request',
      state: 'fine',
      value: !isNewestKnown ? '–' : newestAt === null ? 'none yet' : <Time at={newestAt} />,
      normal: 'Seconds ago, while the site has visitors.',
      todo: <>Edges in contact and no requests: the edge is not in front of {instance.cname}.</>,
    },
    {
      key: 'client-jwt',
      title: 'Client JWT',
      state: jwt?.state ?? 'fine',
      value:
        jwt === null ? (
          '–'
        ) : jwt.expiresAt === null ? (
          'none works'
        ) : (
          <>
            expires <Time at={jwt.expiresAt} />
          </>
        ),
      normal: 'One works for more than two weeks.',
      todo: (
        <>
          <a href={jwts}>Issue the next one</a>, give it to the edge as CLIENT_JWT, then revoke the old one.
        </>
      ),
    },
    {
      key: 'ruleset',
      title: 'Rules',
      state: 'fine',
      value:
        version === undefined || ageSeconds === undefined
          ? '–'
          : `version ${count(version)}, changed ${duration(ageSeconds * 1000)} ago`,
      normal: 'The version is the one of your last change.',
      todo: 'Which edge has which version is in the table of edges.',
    },
  ];
}

function contactOf({ inContact, silent, lastContactAt }: EdgesFinding): ComponentChildren {
  if (lastContactAt === null) return 'none yet';
  return (
    <>
      {count(inContact)} in contact{silent > 0 && <>, {count(silent)} silent</>}
      <div class="soft">
        last at <Time at={lastContactAt} />
      </div>
    </>
  );
}

function rowOf({ name, state, total, since, parts }: Finding): Row {
  const { title, normal, todo } = advice[name];
  const labelled = parts.flatMap(({ labels, value }) => {
    const named = furtherLabels(labels).map(([label, of]) => `${label} ${of}`);
    return named.length === 0 ? [] : [`${named.join(', ')}: ${count(value)}`];
  });
  return {
    key: name,
    title,
    metric: `gatehouse_${name}`,
    state,
    value: (
      <>
        {count(since ?? total)}
        {since !== null && since !== total && <span class="soft"> of {count(total)} in all</span>}
        {labelled.length > 0 && <div class="soft">{labelled.join('; ')}</div>}
      </>
    ),
    normal,
    todo,
  };
}

/** Every label but the one that the view is about. */
function furtherLabels(labels: MetricSample['labels']): [name: string, value: string][] {
  return Object.entries(labels).filter(([name]) => name !== 'instance');
}

/** Everything that a monitoring system would read, for people who want to know more. */
function AllMetrics({ families, instanceId }: { families: readonly MetricFamily[]; instanceId: string }) {
  const rows = families.flatMap(({ name, help, samples }) =>
    samples
      .filter(({ labels }) => labels['instance'] === instanceId)
      .map(({ labels, value }) => ({
        key: `${name} ${JSON.stringify(labels)}`,
        name,
        help,
        labels: furtherLabels(labels)
          .map(([, of]) => of)
          .join(', '),
        value,
      })),
  );
  return (
    <details class="more">
      <summary>Everything that is counted</summary>
      <Table
        caption="Metrics"
        rows={rows}
        keyOf={({ key }) => key}
        columns={[
          { title: 'Metric', cell: ({ name }) => <code>{name}</code> },
          { title: 'Label', cell: ({ labels }) => labels },
          { title: 'Value', isNumber: true, cell: ({ value }) => count(value) },
          { title: 'What it counts', isWide: true, isWrapped: true, cell: ({ help }) => help },
        ]}
      />
      <p class="hint">
        A monitoring system reads the same at <code>/protect/metrics</code>, with an API key that has the permission
        readProtect.
      </p>
    </details>
  );
}
