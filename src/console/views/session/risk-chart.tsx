/**
 * The score over time as a line of steps, with the thresholds, and each request where it met the score. The tables below
 * it say the same in words and numbers.
 */
import { localTime } from '../../format/times.ts';
import type { RiskHistory } from './session-data.ts';

export interface RiskChartProps {
  risk: RiskHistory;
  challengeThreshold: number | null;
  blockThreshold: number | null;
}

const WIDTH = 1000;
const HEIGHT = 180;
const PAD = 8;
/** More marks than pixels cannot be seen; the newest stay. */
const MARKS_MAX = 400;

export function RiskChart({ risk: { scores, history }, challengeThreshold, blockThreshold }: RiskChartProps) {
  const times = [...scores, ...history].map(({ timestamp }) => timestamp);
  if (times.length === 0) return <p class="soft">This session has no score.</p>;
  const from = Math.min(...times);
  const until = Math.max(...times, from + 1000);
  const x = (at: number) => PAD + ((at - from) / (until - from)) * (WIDTH - 2 * PAD);
  const y = (score: number) => HEIGHT - PAD - score * (HEIGHT - 2 * PAD);
  const thresholds = [
    ['challenge', challengeThreshold],
    ['block', blockThreshold],
  ] as const;
  return (
    <figure class="chart-figure">
      <svg class="risk-chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {thresholds.map(
          ([decision, threshold]) =>
            // A threshold of 1 is never reached.
            threshold !== null &&
            threshold < 1 && (
              <line
                key={decision}
                class={`threshold stroke-${decision}`}
                x1={0}
                x2={WIDTH}
                y1={y(threshold)}
                y2={y(threshold)}
              />
            ),
        )}
        <path class="risk-line" d={stepsOf(scores, x, y)} />
        {history.slice(-MARKS_MAX).map(({ id, timestamp, risk_score: score, decision }) => (
          <line
            key={id}
            class={`risk-mark stroke-${decision}`}
            x1={x(timestamp)}
            x2={x(timestamp)}
            y1={y(score ?? 0) - 5}
            y2={y(score ?? 0) + 5}
          />
        ))}
      </svg>
      <figcaption class="legend">
        <span>
          {localTime(from)} – {localTime(until)}
        </span>
        <span>Score 0 to 1</span>
        {thresholds.map(
          ([decision, threshold]) =>
            threshold !== null && (
              <span key={decision}>
                <i class={`swatch-${decision}`} />
                {decision} {threshold < 1 ? `from ${threshold}` : 'never by risk'}
              </span>
            ),
        )}
      </figcaption>
    </figure>
  );
}

/** A score holds until the next one. */
function stepsOf(scores: RiskHistory['scores'], x: (at: number) => number, y: (score: number) => number): string {
  const [first, ...others] = scores;
  if (first === undefined) return '';
  const steps = others.map(({ timestamp, risk_score: score }) => `H${x(timestamp).toFixed(1)}V${y(score).toFixed(1)}`);
  return `M${x(first.timestamp).toFixed(1)} ${y(first.risk_score).toFixed(1)}${steps.join('')}H${WIDTH - PAD}`;
}
