/** The largest values of one dimension, each with its course and a link to its verdicts, and the exact remainder. */
import { useCall } from '../../api/call.ts';
import type { RequestOf, ResponseOf } from '../../api/service-api.ts';
import { Load, Section } from '../../components/page.tsx';
import { VisitorText } from '../../components/values.tsx';
import { count, counted, percent } from '../../format/numbers.ts';

type Breakdown = ResponseOf<'/protect/traffic-by-dimension'>;

export interface TopListProps {
  title: string;
  /** `null`: not yet. */
  body: RequestOf<'/protect/traffic-by-dimension'> | null;
  /** What a request without a value is called. */
  none: string;
  /** A value as people know it; `null`: as it is, which visitors may have chosen. */
  nameOf?: (value: string) => string;
  /** The verdicts with this value; `null`: the log cannot be asked for it. */
  hrefOf?: (value: string) => string;
}

const VALUE_MAX_CHARS = 60;

export function TopList({ title, body, none, nameOf, hrefOf }: TopListProps) {
  const loaded = useCall('/protect/traffic-by-dimension', body);
  // A list without a value says nothing.
  if (loaded.value?.series.every(({ value }) => value === null) === true) return <Load of={loaded} />;
  return (
    <Section title={title}>
      <div class={loaded.value === null ? 'top-list-room' : ''}>
        <Load of={loaded}>{(value) => <List value={value} {...{ title, none, nameOf, hrefOf }} />}</Load>
      </div>
    </Section>
  );
}

interface ListProps {
  value: Breakdown;
  title: string;
  none: string;
  nameOf: TopListProps['nameOf'] | undefined;
  hrefOf: TopListProps['hrefOf'] | undefined;
}

function List({ value: breakdown, title, none, nameOf, hrefOf }: ListProps) {
  const { series, other, total, isExact, internalLeft, since, until } = breakdown;
  const max = Math.max(1, ...series.map((one) => one.total));
  return (
    <>
      <table class="top-list">
        <caption class="unseen">{title}, largest first</caption>
        <thead class="unseen">
          <tr>
            <th scope="col">Value</th>
            <th scope="col">Course</th>
            <th scope="col">Requests</th>
            <th scope="col">Share</th>
          </tr>
        </thead>
        <tbody>
          {series.map((one) => (
            <tr key={one.value ?? '\u0000'}>
              <td>
                <Named value={one.value} name={one.name} {...{ none, nameOf, hrefOf }} />
                <StackedBar {...one} max={max} />
              </td>
              <td>
                <Sparkline points={one.points} since={since} until={until} />
              </td>
              <td class="number">{count(one.total)}</td>
              <td class="number soft">{percent(one.total, total)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="hint">
        {other.values > 0 && `${count(other.values)} more with ${counted(other.total, 'request')}. `}
        {isExact ? '' : 'Some hour had more values than the log counts one by one; the rest is in the remainder.'}
        {internalLeft > 0 &&
          ` ${counted(internalLeft, 'call')} of the gate’s own from before the log told them apart are among these.`}
      </p>
    </>
  );
}

type NamedProps = Pick<ListProps, 'none' | 'nameOf' | 'hrefOf'> & {
  value: string | null;
  /** What the service calls it. */
  name: string | undefined;
};

function Named({ value, name, none, nameOf, hrefOf }: NamedProps) {
  if (value === null) return <span class="soft">{none}</span>;
  const known = name ?? nameOf?.(value);
  const text =
    known === undefined ? (
      <VisitorText text={value} maxChars={VALUE_MAX_CHARS} />
    ) : (
      <span title={value}>
        <VisitorText text={known} />
      </span>
    );
  return hrefOf === undefined ? <span>{text}</span> : <a href={hrefOf(value)}>{text}</a>;
}

export interface StackedBarProps {
  allow: number;
  challenge: number;
  block: number;
  max: number;
  isTall?: boolean;
}

/** The share of each decision; the whole bar is as long as the value is large. */
export function StackedBar({ allow, challenge, block, max, isTall = false }: StackedBarProps) {
  const width = (part: number) => ({ width: `${(part / max) * 100}%` });
  return (
    <span class={isTall ? 'stacked stacked-tall' : 'stacked'} aria-hidden="true">
      <i class="swatch-allow" style={width(allow)} />
      <i class="swatch-challenge" style={width(challenge)} />
      <i class="swatch-block" style={width(block)} />
    </span>
  );
}

export interface SparklineProps {
  points: readonly { timestamp: number; total: number }[];
  since: number;
  until: number;
}

const WIDTH = 84;
const HEIGHT = 20;
/** More points than pixels cannot be seen. */
const SLOTS = 42;

/** A tiny line over time beside a number. It only repeats what the number says, so screen readers skip it. */
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
