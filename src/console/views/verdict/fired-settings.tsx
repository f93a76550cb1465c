/** The policies, limits and lists that the request met, monitored ones too: what each said then, and what it is now. */
import { useCall } from '../../api/call.ts';
import type { Schema } from '../../api/service-api.ts';
import { Chip, DecisionChip, VisitorText } from '../../components/values.tsx';
import { Table } from '../../components/table.tsx';
import { addressOf } from '../../url/params.ts';
import { actionWords, allowanceText } from '../limits/limit-words.ts';
import { actionText, type StoredSet } from '../policies/policy.ts';

type Explanation = Schema<'VerdictExplanation'>;
type Fired = Explanation['verdict']['fired_rules'][number];

const kinds = {
  policy: { word: 'Policy', address: () => '/console/policies' },
  limit: { word: 'Limit', address: () => '/console/limits' },
  list: { word: 'List', address: (name: string) => `/console/lists/${encodeURIComponent(name)}` },
} as const;
type Kind = keyof typeof kinds;

interface Row extends Fired {
  kind: Kind;
  name: string;
}

export function firedSettings(fired: readonly Fired[]): Row[] {
  return fired.flatMap((one) => {
    const end = one.id.indexOf(':');
    const kind = one.id.slice(0, Math.max(end, 0));
    return Object.hasOwn(kinds, kind) ? [{ ...one, kind: kind as Kind, name: one.id.slice(end + 1) }] : [];
  });
}

export function FiredSettings({ verdict }: Pick<Explanation, 'verdict'>) {
  const rows = firedSettings(verdict.fired_rules);
  const isOfSet = rows.some(({ kind }) => kind !== 'list');
  const { value: set } = useCall('/protect/policies', isOfSet ? { siteKey: verdict.site_key } : null);
  if (rows.length === 0) return <p class="soft">None.</p>;
  return (
    <Table
      caption="Policies, limits and lists"
      rows={rows}
      keyOf={({ id }) => id}
      isCurrent={({ id }) => id === verdict.decided_by}
      columns={[
        { title: 'Kind', cell: ({ kind }) => kinds[kind].word },
        {
          title: 'Name',
          isWrapped: true,
          cell: ({ id, kind, name }) => (
            <>
              <a href={addressOf(kinds[kind].address(name), { site: verdict.site_key })}>
                <VisitorText text={name} maxChars={80} />
              </a>
              {id === verdict.decided_by && <b> decided</b>}
            </>
          ),
        },
        {
          title: 'Said',
          cell: (row) => (
            <>
              {isSilent(row, set) ? <span class="soft">nothing</span> : <DecisionChip decision={row.verdict} />}{' '}
              {row.mode === 'monitor' && <span class="soft">only recorded</span>}
            </>
          ),
        },
        { title: 'Now', isWide: true, isWrapped: true, cell: (row) => set !== null && <Now row={row} set={set} /> },
      ]}
    />
  );
}

/** A policy that only counts a request, or says where it goes, has decided nothing. The log calls that allow. */
function isSilent({ kind, name, verdict }: Row, set: StoredSet | null): boolean {
  const policy = set?.policies.find((one) => one.name === name);
  const action = kind === 'policy' && verdict === 'allow' ? policy?.then.action : undefined;
  return action === 'limit' || action === 'origin' || action === 'skipSession';
}

/** Lists have a page of their own, which says it. */
function Now({ row: { kind, name }, set }: { row: Row; set: StoredSet }) {
  if (kind === 'list') return null;
  const policy = kind === 'policy' ? set.policies.find((one) => one.name === name) : undefined;
  if (policy !== undefined) return <VisitorText text={actionText(policy.then)} maxChars={120} />;
  const limit = kind === 'limit' ? set.limits.find((one) => one.name === name) : undefined;
  if (limit === undefined) return <Chip>removed since</Chip>;
  return (
    <>
      {allowanceText(limit)}, then {actionWords[limit.then]}
    </>
  );
}
