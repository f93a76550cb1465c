/** Every change of a session's score, newest first: what caused it, and the parts that add up to it. */
import { Chip } from '../../components/chip.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import type { RiskHistory } from './session-data.ts';

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
