/** The origins that the instance names, each with where it is, who is sent there, and whether it answers. */
import { useCall } from '../../api/call.ts';
import type { ResponseOf, Schema } from '../../api/service-api.ts';
import { Chip, VisitorText } from '../../components/values.tsx';
import { Load, Section } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { count, counted, percent } from '../../format/numbers.ts';
import type { Instance } from '../../frame/instances.ts';
import type { MetricFamily } from './exposition.ts';
import { originFindings, type OriginFinding, type Seen } from './findings.ts';

export interface OriginsProps {
  instance: Instance;
  families: readonly MetricFamily[];
  seen: Seen;
}

type PolicySet = ResponseOf<'/protect/policies'>;
type Origin = Schema<'Origin'>;

export function NamedOrigins({ instance, families, seen }: OriginsProps) {
  const loaded = useCall('/protect/policies', { siteKey: instance.globalSiteKey });
  const set = loaded.value;
  const origins = set?.origins ?? {};
  const rows = originFindings(Object.keys(origins), families, instance.id, seen);
  // Most instances have only the origin of the edge's environment, which the signs are about.
  return (
    <>
      <Load of={loaded} />
      {rows.length > 0 && (
        <Section title="Origins by name">
          <Table
            caption="Origins by name"
            rows={rows}
            keyOf={({ name }) => name}
            columns={[
              { title: 'State', cell: (row) => <StateChip row={row} /> },
              { title: 'Origin', cell: ({ name }) => <b>{name}</b> },
              { title: 'Is', isWrapped: true, cell: ({ name }) => <Place origin={origins[name]!} /> },
              {
                title: 'Gets the requests of',
                isWrapped: true,
                cell: ({ name }) => <VisitorText text={sendersOf(set, name)} maxChars={200} />,
              },
              { title: 'Requests', isNumber: true, cell: ({ requests }) => count(requests) },
              { title: 'Not answered', isNumber: true, cell: (row) => <Failures row={row} /> },
            ]}
          />
          <p class="hint">
            Requests are counted since the beginning. Visitors of an origin that does not answer get 502, and go to no
            other origin. All other requests go to the origin in the configuration of the edge.
          </p>
        </Section>
      )}
    </>
  );
}

function StateChip({ row: { state, requests } }: { row: OriginFinding }) {
  if (state === 'act') return <Chip tone="block">act</Chip>;
  return requests === 0 ? <Chip>no request yet</Chip> : <Chip tone="allow">fine</Chip>;
}

function Place({ origin }: { origin: Origin }) {
  if (origin.kind === 'url') return <VisitorText text={origin.url} maxChars={120} />;
  if (origin.kind === 'zone') return <>the server of the zone</>;
  return (
    <>
      the binding <code>{origin.binding}</code>
    </>
  );
}

/** Hosts and policies that send requests there. */
function sendersOf(set: PolicySet | null, name: string): string {
  const hosts = set?.origins[name]?.hosts ?? [];
  const policies = (set?.policies ?? []).filter(({ then }) => then.action === 'origin' && then.origin === name);
  const senders = [...hosts, ...policies.map((policy) => `policy ${policy.name}`)];
  return senders.length === 0 ? 'nobody' : senders.join(', ');
}

function Failures({ row: { requests, failures, since } }: { row: OriginFinding }) {
  if (failures === 0) return <>0</>;
  return (
    <>
      {counted(since, 'new one', 'new ones')}
      <div class="soft">
        {count(failures)} in all, {percent(failures, requests)}
      </div>
    </>
  );
}
