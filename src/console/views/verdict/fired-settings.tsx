/** The policies, limits and lists that the request met, monitored ones too, each with the way to it. */
import type { Schema } from '../../api/service-api.ts';
import { DecisionChip } from '../../components/chip.tsx';
import { Table } from '../../components/table.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';
import { addressOf } from '../../url/params.ts';

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
          cell: ({ verdict: said, mode }) => (
            <>
              <DecisionChip decision={said} /> {mode === 'monitor' && <span class="soft">only recorded</span>}
            </>
          ),
        },
      ]}
    />
  );
}
