/** What the state of each edge means for the instance. */
import type { ResponseOf } from '../../api/service-api.ts';
import type { State } from './findings.ts';

type Edge = ResponseOf<'/protect/edges'>['edges'][number];

/** How one edge looks by itself. */
export const edgeWords: Readonly<Record<Edge['state'], { name: string; state: State }>> = {
  'in-contact': { name: 'in contact', state: 'fine' },
  'old-rules': { name: 'old rules', state: 'act' },
  silent: { name: 'silent', state: 'act' },
  'never-seen': { name: 'never seen', state: 'look' },
  retired: { name: 'retired', state: 'look' },
};

export interface EdgesFinding {
  state: State;
  inContact: number;
  silent: number;
  oldRules: number;
  /** Epoch milliseconds of the newest contact of any edge. */
  lastContactAt: number | null;
}

/** Beside an edge that is in contact, a silent one may be one that was replaced, so it is only looked at. */
export function edgesFinding(edges: readonly Edge[]): EdgesFinding {
  const those = (state: Edge['state']): number => edges.filter((edge) => edge.state === state).length;
  const [silent, oldRules] = [those('silent'), those('old-rules')];
  const inContact = those('in-contact') + oldRules;
  const contacts = edges.flatMap(({ lastContactAt }) => (lastContactAt === null ? [] : [lastContactAt]));
  const state =
    oldRules > 0 || (silent > 0 && inContact === 0) ? 'act' : inContact === 0 || silent > 0 ? 'look' : 'fine';
  return { state, inContact, silent, oldRules, lastContactAt: contacts.length === 0 ? null : Math.max(...contacts) };
}
