/** What the views of lists share: the address of one, and short marks of how it is and whether it decides anything. */
import type { List } from './list-draft.ts';
import { Chip } from '../../components/values.tsx';
import { addressOf, type Params } from '../../url/params.ts';
import { siteParam } from '../../frame/instances.ts';

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

export function listAddress(name: string, params: Params): string {
  return addressOf(`/console/lists/${encodeURIComponent(name)}`, siteParam(params));
}

/** The fetches of a list go on while somebody looks at it. */
export const LISTS_EVERY_MS = 10_000;
