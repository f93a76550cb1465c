/** The policies of the draft in their order. */
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Chip, VisitorText, type Tone } from '../../components/values.tsx';
import { Table, type TableColumn } from '../../components/table.tsx';
import { count } from '../../format/numbers.ts';
import { siteParam } from '../../frame/instances.ts';
import { addressOf, useParams } from '../../url/params.ts';
import type { PolicyDraft, DraftEntry } from './draft.ts';
import { actionText, type ListedAction, type StoredSet } from './policy.ts';

export type RowAct = 'edit' | 'up' | 'down' | 'mode' | 'delete';

export interface PolicyTableProps {
  draft: PolicyDraft;
  stored: StoredSet;
  /** Marks of what is not saved: `new` or `changed`, by the key of the entry. */
  marks: ReadonlyMap<string, string>;
  mayChange: boolean;
  onAct: (act: RowAct, entry: DraftEntry) => void;
}

interface Row extends DraftEntry {
  place: number;
}

type Act = (name: RowAct, row: Row) => void;

const WHEN_MAX_CHARS = 400;
const tones: Partial<Record<ListedAction['action'], Tone>> = { allow: 'allow', challenge: 'challenge', block: 'block' };

export function PolicyTable({ draft, stored, marks, mayChange, onAct }: PolicyTableProps) {
  const [params] = useParams();
  const { site } = siteParam(params);
  const acts = useRef(onAct);
  acts.current = onAct;
  const focused = useRef<string | null>(null);
  const rows = useMemo(() => draft.entries.map((entry, at): Row => ({ ...entry, place: at + 1 })), [draft]);
  const columns = useMemo(() => {
    const hits = new Map(stored.policies.map((policy) => [policy.name, policy.hits]));
    const act: Act = (name, row) => {
      focused.current = name === 'up' || name === 'down' ? buttonId(name, row) : null;
      acts.current(name, row);
    };
    const all = columnsOf({ hits, marks, site, act: mayChange ? act : null });
    return mayChange ? [...all, actionsColumn(act, rows.length)] : all;
  }, [stored, marks, site, mayChange, rows.length]);
  // A row that moves takes its button along, and the browser then forgets where the focus was.
  useEffect(() => {
    if (focused.current !== null) document.getElementById(focused.current)?.querySelector('button')?.focus();
    focused.current = null;
  }, [rows]);
  return <Table caption="Policies in their order" columns={columns} rows={rows} keyOf={({ key }) => key} />;
}

interface Known {
  hits: ReadonlyMap<string, StoredSet['policies'][number]['hits']>;
  marks: ReadonlyMap<string, string>;
  site: string | undefined;
  /** `null`: nothing may be changed. */
  act: Act | null;
}

function columnsOf({ hits, marks, site, act }: Known): TableColumn<Row>[] {
  const requests = (name: string) => addressOf('/console/verdicts', { site, rule: `policy:${name}`, range: '7d' });
  return [
    { title: 'Place', isNumber: true, width: '4rem', cell: ({ place }) => count(place) },
    {
      title: 'Name',
      width: '12rem',
      cell: ({ key, policy: { name, description } }) => (
        <span title={description}>
          {/* First: the end of a long name is cut. */}
          {marks.has(key) && <Chip tone="info">{marks.get(key)}</Chip>} <b>{name}</b>
        </span>
      ),
    },
    {
      title: 'Condition',
      isWide: true,
      isWrapped: true,
      width: 'minmax(12rem, 1fr)',
      cell: ({ policy }) => (
        <code>
          <VisitorText text={policy.when} maxChars={WHEN_MAX_CHARS} />
        </code>
      ),
    },
    {
      title: 'Action',
      width: '9rem',
      cell: ({ policy: { then } }) => <Chip tone={tones[then.action] ?? 'plain'}>{actionText(then)}</Chip>,
    },
    {
      title: 'Mode',
      width: '8rem',
      cell: (row) => {
        const { name, mode } = row.policy;
        const word = mode === 'monitor' ? <Chip tone="warn">monitor</Chip> : 'enforce';
        if (act === null) return word;
        return (
          <label class="chips">
            <input
              type="checkbox"
              aria-label={`Enforce ${name}`}
              checked={mode === 'enforce'}
              onChange={() => act('mode', row)}
            />
            {word}
          </label>
        );
      },
    },
    {
      title: 'Hits, 7 days',
      heading: <abbr title="Hits of the last 7 days">Hits</abbr>,
      isNumber: true,
      width: '5rem',
      cell: ({ policy: { name } }) => {
        const found = hits.get(name);
        return found === undefined ? '–' : <a href={requests(name)}>{count(found.total)}</a>;
      },
    },
  ];
}

function buttonId(act: RowAct, { key }: DraftEntry): string {
  return `policy-${act}-${key}`;
}

function actionsColumn(act: Act, last: number): TableColumn<Row> {
  return {
    title: 'Actions',
    width: '11.5rem',
    cell: (row) => {
      const { name } = row.policy;
      const button = (one: RowAct, text: string, label: string, isDisabled = false) => (
        <span id={buttonId(one, row)}>
          <Button
            isSmall
            kind={one === 'delete' ? 'danger' : 'plain'}
            label={label}
            title={label}
            isDisabled={isDisabled}
            onClick={() => act(one, row)}
          >
            {text}
          </Button>
        </span>
      );
      return (
        <span class="nowrap">
          {button('edit', 'Edit', `Edit ${name}`)} {button('up', '↑', `Move ${name} up`, row.place === 1)}{' '}
          {button('down', '↓', `Move ${name} down`, row.place === last)} {button('delete', '×', `Delete ${name}`)}
        </span>
      );
    },
  };
}
