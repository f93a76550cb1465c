/** Rules as rows: what they match, what they say, and how often they did. */
import { useMemo, useRef } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Chip, DecisionChip, Time, VisitorText } from '../../components/values.tsx';
import { Table, type TableColumn } from '../../components/table.tsx';
import { count } from '../../format/numbers.ts';
import { siteParam } from '../../frame/instances.ts';
import { addressOf, useParams } from '../../url/params.ts';
import { loggedRuleId, ruleTypes, type Rule } from './rule.ts';

export interface RuleTableProps {
  rules: readonly Rule[];
  mayChange: boolean;
  onEdit: (rule: Rule) => void;
  onDelete: (rule: Rule) => void;
  onNearEnd: () => void;
}

const VALUE_MAX_CHARS = 60;
/** Before the columns that a narrow window cuts off. */
const ACTIONS_AT = 5;

export function RuleTable({ rules, mayChange, onEdit, onDelete, onNearEnd }: RuleTableProps) {
  const [params] = useParams();
  const { site } = siteParam(params);
  // A row is rendered again when its columns are others, so these stay the same while somebody scrolls.
  const acts = useRef({ onEdit, onDelete });
  acts.current = { onEdit, onDelete };
  const columns = useMemo(() => {
    const all = columnsOf(site);
    if (mayChange)
      all.splice(
        ACTIONS_AT,
        0,
        actionsColumn((name, rule) => acts.current[name](rule)),
      );
    return all;
  }, [site, mayChange]);
  return <Table caption="Rules" columns={columns} rows={rules} keyOf={loggedRuleId} onNearEnd={onNearEnd} />;
}

function columnsOf(site: string | undefined): TableColumn<Rule>[] {
  const hitsOf = ({ type, value }: Rule) => addressOf(`/console/rules/of/${type}`, { site, value, range: '7d' });
  return [
    { title: 'Matches', width: '7rem', cell: ({ type }) => ruleTypes[type].short },
    {
      title: 'Value',
      isWide: true,
      width: 'minmax(10rem, 2fr)',
      cell: ({ value }) => (
        <span class="mono">
          <VisitorText text={value} maxChars={VALUE_MAX_CHARS} />
        </span>
      ),
    },
    { title: 'Verdict', width: '8rem', cell: ({ verdict }) => <DecisionChip decision={verdict} /> },
    {
      title: 'State',
      width: '9rem',
      cell: ({ mode, expired, rollout, signalUnseen }) => (
        <>
          {expired && <Chip>expired</Chip>} {mode === 'monitor' && <Chip tone="warn">monitored</Chip>}{' '}
          {rollout < 100 && <Chip tone="info">{rollout} %</Chip>}{' '}
          {signalUnseen === true && (
            <Chip tone="warn" title="No request of the last days carried what this rule looks at.">
              unseen
            </Chip>
          )}
        </>
      ),
    },
    {
      title: 'Hits, 7 days',
      heading: <abbr title="Hits of the last 7 days">Hits</abbr>,
      isNumber: true,
      width: '5rem',
      cell: (rule) => (rule.hits === undefined ? '–' : <a href={hitsOf(rule)}>{count(rule.hits.total)}</a>),
    },
    {
      title: 'Last hit',
      width: '8.2rem',
      cell: ({ hits }) => <Time at={hits?.lastHitAt} isBrief />,
    },
    {
      title: 'Expires',
      width: '8.2rem',
      cell: ({ expiry }) => (expiry === null ? 'never' : <Time at={expiry} isBrief />),
    },
    {
      title: 'Note',
      isWide: true,
      width: 'minmax(5.5rem, 1fr)',
      cell: ({ note, updatedBy, updatedByName = updatedBy }) => (
        <>
          {note !== null && <VisitorText text={note} maxChars={VALUE_MAX_CHARS} />}{' '}
          <span class="soft">
            by <VisitorText text={updatedByName} maxChars={40} />
          </span>
        </>
      ),
    },
  ];
}

function actionsColumn(act: (name: 'onEdit' | 'onDelete', rule: Rule) => void): TableColumn<Rule> {
  return {
    title: 'Actions',
    width: '9.25rem',
    cell: (rule) => (
      <span class="nowrap">
        <Button isSmall label={`Edit ${loggedRuleId(rule)}`} onClick={() => act('onEdit', rule)}>
          Edit
        </Button>{' '}
        <Button isSmall kind="danger" label={`Delete ${loggedRuleId(rule)}`} onClick={() => act('onDelete', rule)}>
          Delete
        </Button>
      </span>
    ),
  };
}
