/** A tiny line over time beside a number. It only repeats what the number says, so screen readers skip it. */
export interface SparklineProps {
  points: readonly { timestamp: number; total: number }[];
  since: number;
  until: number;
}

const WIDTH = 84;
const HEIGHT = 20;
/** More points than pixels cannot be seen. */
const SLOTS = 42;

export function Sparkline({ points, since, until }: SparklineProps) {
  const slots = Array.from({ length: SLOTS }, () => 0);
  for (const { timestamp, total } of points) {
    const slot = Math.floor(((timestamp - since) / (until - since)) * SLOTS);
    if (slot >= 0 && slot < SLOTS) slots[slot]! += total;
  }
  const max = Math.max(1, ...slots);
  const line = slots.map(
    (value, at) =>
      `${at === 0 ? 'M' : 'L'}${((at / (SLOTS - 1)) * WIDTH).toFixed(1)} ${(HEIGHT - 1 - (value / max) * (HEIGHT - 2)).toFixed(1)}`,
  );
  return (
    <svg class="sparkline" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <path d={line.join('')} />
    </svg>
  );
}
