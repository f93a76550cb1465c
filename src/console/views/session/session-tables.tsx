/** The tables of a session: what raised its risk, its requests, and what its pages reported. */
import { Chip, DecisionChip, Time, VisitorText } from '../../components/values.tsx';
import { Table } from '../../components/table.tsx';
import type { ResponseOf } from '../../api/service-api.ts';
import { addressOf } from '../../url/params.ts';
import { count } from '../../format/numbers.ts';

type Score = RiskHistory['scores'][number];
interface Change extends Score {
  /** Detectors that the score before did not have. */
  isNew: ReadonlySet<string>;
  gone: readonly string[];
}

const causes: Record<Score['cause'], string> = {
  opened: 'the session opened',
  renewed: 'the session was renewed',
  telemetry: 'a page reported',
  burst: 'a burst of requests',
};

/** Every change of a session's score, newest first: what caused it, and the parts that add up to it. */
export function ScoreTable({ scores }: { scores: RiskHistory['scores'] }) {
  if (scores.length === 0) return null;
  return (
    <Table
      caption="Changes of the score, newest first"
      rows={changesOf(scores)}
      keyOf={({ timestamp, risk_score: score, cause }) => `${timestamp} ${cause} ${score}`}
      columns={[
        { title: 'Time', cell: ({ timestamp }) => <Time at={timestamp} isBrief /> },
        { title: 'Because', cell: ({ cause }) => causes[cause] },
        { title: 'Score', isNumber: true, cell: ({ risk_score: score }) => score.toFixed(2) },
        { title: 'Parts', isWide: true, isWrapped: true, cell: (change) => <Parts {...change} /> },
      ]}
    />
  );
}

function Parts({ parts, ignored, isNew, gone }: Change) {
  if (parts.length + ignored.length + gone.length === 0) return <span class="soft">nothing fired</span>;
  return (
    <span class="chips">
      {parts.map(({ detector, weight }) => (
        <Chip key={detector} tone={isNew.has(detector) ? 'warn' : 'plain'} title={isNew.has(detector) ? 'new' : ''}>
          {isNew.has(detector) && 'new: '}
          {detector} +{weight}
        </Chip>
      ))}
      {ignored.map((detector) => (
        <Chip key={detector} title="The instance ignores this detector">
          {detector} ignored
        </Chip>
      ))}
      {gone.map((detector) => (
        <Chip key={detector} title="Counted before and no longer">
          <s>{detector}</s> gone
        </Chip>
      ))}
    </span>
  );
}

function changesOf(scores: RiskHistory['scores']): Change[] {
  return scores
    .map((score, at) => {
      const before = new Set((scores[at - 1]?.parts ?? []).map(({ detector }) => detector));
      const now = new Set(score.parts.map(({ detector }) => detector));
      const isNew = new Set(at === 0 ? [] : [...now].filter((detector) => !before.has(detector)));
      return { ...score, isNew, gone: [...before].filter((detector) => !now.has(detector)) };
    })
    .toReversed();
}

export type RiskHistory = ResponseOf<'/protect/risk-history'>;
export type SessionTelemetry = ResponseOf<'/protect/session-telemetry'>;

export interface SessionRequestsProps {
  /** Oldest first, as the API returns it. */
  history: RiskHistory['history'];
  site: string | undefined;
}

/** What the API says about one session. */
export function SessionRequests({ history, site }: SessionRequestsProps) {
  if (history.length === 0) return <p class="soft">No verdict of this session is stored.</p>;
  return (
    <Table
      caption="Requests of the session, newest first"
      rows={history.toReversed()}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Time',
          cell: ({ request_id: id, timestamp }) => (
            <a href={addressOf(`/console/verdicts/${encodeURIComponent(id)}`, { site })} class="nowrap">
              <Time at={timestamp} isBrief />
            </a>
          ),
        },
        { title: 'Decision', cell: ({ decision }) => <DecisionChip decision={decision} /> },
        { title: 'Risk', isNumber: true, cell: ({ risk_score: score }) => score?.toFixed(2) ?? '–' },
        { title: 'Path', isWide: true, cell: ({ request_path: path }) => <VisitorText text={path} maxChars={120} /> },
        { title: 'Source', cell: ({ source }) => source },
        { title: 'Decided by', cell: ({ decided_by: by }) => <VisitorText text={by} maxChars={60} /> },
        {
          title: 'Fired',
          cell: ({ fired_rules: rules }) => <VisitorText text={rules.join(', ')} maxChars={80} />,
        },
      ]}
    />
  );
}

type Row = SessionTelemetry['telemetry'][number];

/** Field of a report → heading. A field that a newer script adds is in the API's answer. */
const counts = [
  ['pointerMoves', 'Moves'],
  ['presses', 'Presses'],
  ['touches', 'Touches'],
  ['leaps', 'Leaps'],
  ['keys', 'Keys'],
  ['wheels', 'Wheel'],
  ['scrolls', 'Scrolls'],
  ['untrusted', 'By script'],
] as const;

/** What the protect script reported, newest first: counts and times, no content. */
export function TelemetryTable({ telemetry }: { telemetry: SessionTelemetry['telemetry'] }) {
  if (telemetry.length === 0) return <p class="soft">No page of this session has reported.</p>;
  return (
    <Table
      caption="Reports of the session's pages, newest first"
      rows={telemetry.toReversed()}
      keyOf={(row) => `${row.timestamp} ${JSON.stringify(row.report)}`}
      columns={[
        { title: 'Time', cell: ({ timestamp }) => <Time at={timestamp} isBrief /> },
        { title: 'Page open', isNumber: true, cell: (row) => seconds(row, 'elapsedMs') },
        { title: 'Visible', isNumber: true, cell: (row) => seconds(row, 'visibleMs') },
        { title: 'First touch', isNumber: true, cell: (row) => seconds(row, 'firstInteractionMs') },
        ...counts.map(([field, title]) => ({
          title,
          isNumber: true,
          cell: (row: Row) => {
            const value = numberIn(row, field);
            return value === null ? '–' : count(value);
          },
        })),
        { title: 'Traits', isWide: true, isWrapped: true, cell: (row) => <Traits row={row} /> },
      ]}
    />
  );
}

function Traits({ row }: { row: Row }) {
  const { traits } = fields(row);
  if (!Array.isArray(traits) || traits.length === 0) return <span class="soft">none</span>;
  return (
    <span class="chips">
      {traits.map((trait) => (
        <Chip key={String(trait)} tone="warn">
          <VisitorText text={String(trait)} maxChars={60} />
        </Chip>
      ))}
    </span>
  );
}

/** A report is what a page sent, whatever the document says. */
function fields({ report }: Row): Record<string, unknown> {
  return typeof report === 'object' && report !== null ? (report as Record<string, unknown>) : {};
}

function numberIn(row: Row, field: string): number | null {
  const value = fields(row)[field];
  return typeof value === 'number' ? value : null;
}

function seconds(row: Row, field: string): string {
  const value = numberIn(row, field);
  return value === null ? '–' : `${(value / 1000).toFixed(1)} s`;
}
