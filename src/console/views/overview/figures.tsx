/** The totals of the window, beside those of the time before it of the same length. */
import { count, percent } from '../../format/numbers.ts';
import type { ResponseOf } from '../../api/service-api.ts';

type Summary = ResponseOf<'/protect/traffic-summary'>;

const titles = { total: 'Requests', allow: 'Allowed', challenge: 'Challenged', block: 'Blocked' } as const;

export interface FiguresProps {
  now: Summary | null;
  before: Summary | null;
  /** The view with the lists of only this decision; `null`: of every one. */
  hrefOf: (decision: string | null) => string;
  chosen: string | null;
}

export function Figures({ now, before, hrefOf, chosen }: FiguresProps) {
  return (
    <div class="figures">
      {(['total', 'allow', 'challenge', 'block'] as const).map((name) => {
        const decision = name === 'total' ? null : name;
        return (
          <a key={name} class="figure" href={hrefOf(decision)} aria-current={decision === chosen ? 'true' : undefined}>
            <span class="soft">{titles[name]}</span>
            <b>{now === null ? '–' : count(now[name])}</b>
            <span class="hint">
              {now !== null && name !== 'total' && `${percent(now[name], now.total)} · `}
              {now === null || before === null ? '\u00a0' : changeText(now[name], before[name])}
            </span>
          </a>
        );
      })}
    </div>
  );
}

/** Beyond this, a percentage says little. */
const MANY_TIMES = 10;

function changeText(now: number, before: number): string {
  if (before === 0) return now === 0 ? 'none before either' : 'none before';
  const change = (now - before) / before;
  if (now === before) return 'as before';
  if (now >= MANY_TIMES * before) return `${count(Math.round(now / before))} times as many as before`;
  return `${change > 0 ? '+' : '−'}${percent(Math.abs(now - before), before)} to before`;
}
