/** Large numbers beside each other, and those of the traffic of a window. */
import type { ComponentChildren } from 'preact';
import type { ResponseOf } from '../../api/service-api.ts';
import { count, percent } from '../../format/numbers.ts';

export interface Figure {
  name: string;
  /** `null`: not known yet. */
  value: number | null;
  hint: ComponentChildren;
  /** Where a click leads. */
  href?: string;
  isCurrent?: boolean;
}

export function Figures({ figures }: { figures: readonly Figure[] }) {
  return (
    <div class="figures">
      {figures.map(({ name, value, hint, href, isCurrent = false }) => {
        const content = (
          <>
            <span class="soft">{name}</span>
            <b>{value === null ? '–' : count(value)}</b>
            <span class="hint">{hint}</span>
          </>
        );
        return href === undefined ? (
          <div key={name} class="figure">
            {content}
          </div>
        ) : (
          <a key={name} class="figure" href={href} aria-current={isCurrent ? 'true' : undefined}>
            {content}
          </a>
        );
      })}
    </div>
  );
}

type Summary = ResponseOf<'/protect/traffic-summary'>;

const titles = { total: 'Requests', allow: 'Allowed', challenge: 'Challenged', block: 'Blocked' } as const;

export interface TrafficFiguresProps {
  now: Summary | null;
  before: Summary | null;
  /** The view with the lists of only this decision; `null`: of every one. */
  hrefOf: (decision: string | null) => string;
  chosen: string | null;
}

/** The totals of the window, beside those of the time before it of the same length. */
export function TrafficFigures({ now, before, hrefOf, chosen }: TrafficFiguresProps) {
  const figures = (['total', 'allow', 'challenge', 'block'] as const).map((name) => {
    const decision = name === 'total' ? null : name;
    const share = now !== null && name !== 'total' ? `${percent(now[name], now.total)} · ` : '';
    const change = now === null || before === null ? '\u00a0' : changeText(now[name], before[name]);
    return {
      name: titles[name],
      value: now?.[name] ?? null,
      hint: share + change,
      href: hrefOf(decision),
      isCurrent: decision === chosen,
    };
  });
  return <Figures figures={figures} />;
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
