/** The edges of an instance: whether each is there, and whether it has the newest rules. */
import { Chip, Time, VisitorText } from '../../components/values.tsx';
import { EmptyState, Section } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import type { ResponseOf } from '../../api/service-api.ts';
import { count, duration } from '../../format/numbers.ts';
import { edgeWords } from './findings.ts';

export type EdgeList = ResponseOf<'/protect/edges'>;
type Edge = EdgeList['edges'][number];

const shades = { fine: 'allow', look: 'warn', act: 'block' } as const;

export function Edges({ list, now }: { list: EdgeList | null; now: number }) {
  return (
    <Section title="Edges">
      {list?.edges.length === 0 ? (
        <EmptyState title="No client JWT works">
          <p>
            An edge calls the service with a client JWT. The <a href="/console/guide">installation guide</a> issues one.
          </p>
        </EmptyState>
      ) : (
        <Table
          caption="Edges"
          rows={list?.edges ?? []}
          keyOf={({ clientJwtId }) => clientJwtId}
          columns={[
            {
              title: 'State',
              cell: ({ state }) => <Chip tone={shades[edgeWords[state].state]}>{edgeWords[state].name}</Chip>,
            },
            { title: 'Last contact', cell: (edge) => <Contact edge={edge} now={now} /> },
            { title: 'Rules', isWrapped: true, cell: (edge) => <Rules edge={edge} now={now} /> },
            { title: 'Config', cell: ({ config }) => <Time at={config?.takenAt ?? null} isBrief /> },
            {
              title: 'Build and place',
              isWrapped: true,
              cell: ({ build, colo }) =>
                build === null ? '–' : <VisitorText text={colo === null ? build : `${build}, ${colo}`} maxChars={80} />,
            },
            { title: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} isBrief /> },
            { title: 'Client JWT', cell: ({ clientJwtId }) => <code>{clientJwtId}</code> },
          ]}
        />
      )}
      <p class="hint">
        An edge is known by its client JWT: give each deployment one of its own. It polls with every request it gets, at
        most every few seconds, and once a minute without visitors.
      </p>
    </Section>
  );
}

function Contact({ edge: { lastContactAt }, now }: { edge: Edge; now: number }) {
  if (lastContactAt === null) return <>never</>;
  return (
    <>
      {duration(Math.max(0, now - lastContactAt))} ago
      <div class="soft">
        <Time at={lastContactAt} isBrief />
      </div>
    </>
  );
}

function Rules({ edge: { rules }, now }: { edge: Edge; now: number }) {
  if (rules === null) return <span class="soft">known with the next change or visitor</span>;
  const { version, behindSince } = rules;
  if (behindSince === null) return <>version {count(version)}, current</>;
  return (
    <>
      version {count(version)}, <b>behind for {duration(Math.max(0, now - behindSince))}</b>
    </>
  );
}
