/** Rules as rows: what they match, what they say, and how often they did. */
import { Button } from '../../components/button.tsx';
import { Chip, DecisionChip } from '../../components/chip.tsx';
import { Table } from '../../components/table.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { VisitorText } from '../../components/visitor-text.tsx';
import { count } from '../../format/numbers.ts';
import { siteParam } from '../../frame/instances.ts';
import { addressOf, useParams } from '../../url/params.ts';
import { ruleId, ruleTypes } from './rule.ts';
import type { Rule } from './rule.ts';

export interface RuleTableProps {
  rules: readonly Rule[];
  mayChange: boolean;
  onEdit: (rule: Rule) => void;
  onDelete: (rule: Rule) => void;
  onNearEnd: () => void;
}

const VALUE_MAX_CHARS = 60;
/** Before the columns that a narrow window cuts off. */
const ACTIONS_AT = 6;

export function RuleTable({ rules, mayChange, onEdit, onDelete, onNearEnd }: RuleTableProps) {
  const [params] = useParams();
  const hitsOf = (rule: Rule) =>
    addressOf(`/console/rules/of/${rule.type}`, { ...siteParam(params), value: rule.value, range: '7d' });
  const columns: Column<Rule>[] = [
    { title: 'Matches', cell: ({ type }) => ruleTypes[type].name },
    {
      title: 'Value',
      isWide: true,
      cell: ({ value }) => (
        <span class="mono">
          <VisitorText text={value} maxChars={VALUE_MAX_CHARS} />
        </span>
      ),
    },
    { title: 'Verdict', cell: ({ verdict }) => <DecisionChip decision={verdict} /> },
    {
      title: 'State',
      cell: ({ mode, expired, rollout, signalUnseen }) => (
        <>
          {expired && <Chip>expired</Chip>} {mode === 'monitor' && <Chip tone="warn">only monitored</Chip>}{' '}
          {rollout < 100 && <Chip tone="info">{rollout} %</Chip>}{' '}
          {signalUnseen === true && (
            <Chip tone="warn" title="No request of the last days carried what this rule looks at.">
              signal not seen
            </Chip>
          )}
        </>
      ),
    },
    {
      title: 'Hits, 7 days',
      isNumber: true,
      cell: (rule) => (rule.hits === undefined ? '–' : <a href={hitsOf(rule)}>{count(rule.hits.total)}</a>),
    },
    {
      title: 'Last hit',
      cell: ({ hits }) => <Time at={typeof hits?.lastHitAt === 'string' ? Date.parse(hits.lastHitAt) : null} />,
    },
    { title: 'Expires', cell: ({ expiry }) => (expiry === null ? 'never' : <Time at={Date.parse(expiry)} />) },
    { title: 'Note', cell: ({ note }) => <VisitorText text={note} maxChars={VALUE_MAX_CHARS} /> },
    { title: 'By', cell: ({ updatedBy }) => <VisitorText text={updatedBy} maxChars={40} /> },
  ];
  if (mayChange) {
    columns.splice(ACTIONS_AT, 0, {
      title: 'Actions',
      cell: (rule) => (
        <span class="nowrap">
          <Button isSmall label={`Edit ${ruleId(rule)}`} onClick={() => onEdit(rule)}>
            Edit
          </Button>{' '}
          <Button isSmall kind="danger" label={`Delete ${ruleId(rule)}`} onClick={() => onDelete(rule)}>
            Delete
          </Button>
        </span>
      ),
    });
  }
  return <Table caption="Edge access rules" columns={columns} rows={rules} keyOf={ruleId} onNearEnd={onNearEnd} />;
}
