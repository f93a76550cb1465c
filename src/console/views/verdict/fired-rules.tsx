/** The rules that fired, what they said then and what they are now, each with its edit and its removal. */
import { useState } from 'preact/hooks';
import { useAction, useCall } from '../../api/call.ts';
import type { Schema } from '../../api/service-api.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Chip, DecisionChip, Time, VisitorText } from '../../components/values.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { Load, RefusalNotice } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { count, counted } from '../../format/numbers.ts';
import { addressOf } from '../../url/params.ts';
import { AddRules } from '../rules/add-rules.tsx';
import { PreviewResult } from '../rules/preview.tsx';
import type { Rule } from '../rules/rule.ts';
import { changeRule } from '../rules/rule-change.ts';

type Explanation = Schema<'VerdictExplanation'>;
type Fired = Explanation['rules'][number];
type Change = { kind: 'edit' | 'delete'; rule: Rule };

const DAY_MS = 86_400_000;

export interface FiredRulesProps {
  explanation: Explanation;
  onChanged: () => void;
}

export function FiredRules({ explanation: { rules, verdict, currentRulesetVersion }, onChanged }: FiredRulesProps) {
  const [change, setChange] = useState<Change | null>(null);
  const site = verdict.site_key;
  if (rules.length === 0) return <p class="soft">No rule fired.</p>;
  const close = () => setChange(null);
  return (
    <>
      <Table
        caption="Rules that fired"
        rows={rules}
        keyOf={({ id }) => id}
        isCurrent={({ id }) => id === verdict.decided_by}
        columns={[
          {
            title: 'Rule',
            isWrapped: true,
            cell: ({ id }) => (
              <>
                <a
                  href={addressOf('/console/rules', { site, type: typeOf(id), value: id.slice(typeOf(id).length + 1) })}
                >
                  <VisitorText text={id} maxChars={120} />
                </a>
                {id === verdict.decided_by && <b> decided</b>}
              </>
            ),
          },
          { title: 'Said', cell: (rule) => <Said {...rule} /> },
          { title: 'Now', cell: ({ now }) => <Now rule={now} /> },
          {
            title: 'Ends',
            cell: ({ now }) => <Time at={now?.expiry} isBrief />,
          },
          {
            title: 'Note',
            isWide: true,
            isWrapped: true,
            cell: ({ now }) => <VisitorText text={now?.note ?? null} maxChars={200} />,
          },
          {
            title: 'Change',
            cell: ({ id, now }) =>
              now !== null &&
              may('updateProtectSettings') && (
                <span class="chips">
                  <Button isSmall label={`Edit ${id}`} onClick={() => setChange({ kind: 'edit', rule: now })}>
                    Edit…
                  </Button>
                  <Button
                    isSmall
                    kind="danger"
                    label={`Delete ${id}`}
                    onClick={() => setChange({ kind: 'delete', rule: now })}
                  >
                    Delete…
                  </Button>
                </span>
              ),
          },
        ]}
      />
      <p class="hint">
        Version {count(verdict.ruleset_version)} of the rules decided; the current one is {count(currentRulesetVersion)}
        .
      </p>
      {change?.kind === 'edit' && <AddRules siteKey={site} edited={change.rule} onClose={close} onDone={onChanged} />}
      {change?.kind === 'delete' && <DeleteRule siteKey={site} rule={change.rule} onClose={close} onDone={onChanged} />}
    </>
  );
}

/** Ids are `type:value`. */
const typeOf = (id: string): string => id.slice(0, id.indexOf(':'));

function Said({ verdict, mode }: Fired) {
  return (
    <>
      <DecisionChip decision={verdict} /> {mode === 'monitor' && <span class="soft">only recorded</span>}
    </>
  );
}

function Now({ rule }: { rule: Rule | null }) {
  if (rule === null) return <Chip>deleted since</Chip>;
  if (rule.expired) return <Chip>expired</Chip>;
  return <Said id="" verdict={rule.verdict} mode={rule.mode} now={null} />;
}

interface DeleteRuleProps {
  siteKey: string;
  rule: Rule;
  onClose: () => void;
  onDone: () => void;
}

function DeleteRule({ siteKey, rule, onClose, onDone }: DeleteRuleProps) {
  const { type, value } = rule;
  const [since] = useState(() => Date.now() - DAY_MS);
  const hits = useCall('/protect/access-rules/hits', { siteKey, type, value, since });
  const preview = useCall('/protect/access-rules/preview', { siteKey, conditions: [{ type, value }] });
  const { isBusy, error, run } = useAction();
  const remove = async () => {
    if ((await run(changeRule(siteKey, rule, rule, null, onDone))) === null) return;
    onClose();
    onDone();
  };
  return (
    <Confirm
      title="Delete this rule?"
      verb="Delete the rule"
      isBusy={isBusy}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <p class="mono">
        <VisitorText text={`${type}:${value}`} />
      </p>
      <p role="status">
        {hits.value === null
          ? 'Counting its hits…'
          : `It fired in ${counted(hits.value.total, 'request')} of the last 24 hours: ${count(hits.value.block)} blocked, ${count(hits.value.challenge)} challenged, ${count(hits.value.allow)} allowed.`}
      </p>
      <p>Without it, other rules, categories, risk and policy decide alone.</p>
      <div class="preview-room">
        <Load of={preview}>{(result) => <PreviewResult preview={result} />}</Load>
      </div>
      <Load of={hits} />
      <RefusalNotice error={error} />
    </Confirm>
  );
}
