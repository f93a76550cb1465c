/** How a list is, and whether its entries decide anything, as short marks. */
import { Chip } from '../../components/values.tsx';
import type { List } from './list.ts';

const states = {
  new: ['plain', 'not read yet'],
  good: ['allow', 'good'],
  failing: ['warn', 'failing'],
  expired: ['block', 'expired'],
} as const;

export function StateChip({ list: { state } }: { list: List }) {
  const [tone, words] = states[state];
  return <Chip tone={tone}>{words}</Chip>;
}

export function ModeChip({ list: { mode } }: { list: List }) {
  return mode === 'enforce' ? <Chip tone="info">enforced</Chip> : <Chip>monitored</Chip>;
}
