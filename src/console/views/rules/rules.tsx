/** The edge access rules of an instance: find, add, change, delete, each with an undo. */
import { useState } from 'preact/hooks';
import { may } from '../../api/session.ts';
import type { Refusal } from '../../api/call.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Download } from '../../components/download.tsx';
import { Load, Page, RefusalNotice } from '../../components/page.tsx';
import { counted } from '../../format/numbers.ts';
import { shownInstance, siteParam } from '../../frame/instances.ts';
import { addressOf, useParams } from '../../url/params.ts';
import { AddRules } from './add-rules.tsx';
import { changeRule } from './rule-change.ts';
import { ruleTypes, type Rule } from './rule.ts';
import { RuleTable } from './rule-table.tsx';
import { ruleExportBody, textFilters, useRules } from './use-rules.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import type { FilterField } from '../../components/filter-field.ts';
import { FilterForm } from '../../components/filter-form.tsx';
import { decisions } from '../../../contract/vocabulary.ts';

export default function Rules() {
  const [params] = useParams();
  const siteKey = shownInstance(params)?.globalSiteKey ?? null;
  const loaded = useRules(params);
  const { isLoading, hasMore, loadMore, reload } = loaded;
  const [edited, setEdited] = useState<Rule | 'new' | null>(null);
  const [failure, setFailure] = useState<Refusal | null>(null);
  const mayChange = siteKey !== null && may('updateProtectSettings');

  const remove = async (rule: Rule): Promise<void> => {
    if (siteKey === null) return;
    const done = await changeRule(siteKey, rule, rule, null, reload);
    setFailure(done.ok ? null : done.error);
    reload();
  };
  const to = (path: string) => addressOf(`/console/rules/${path}`, siteParam(params));
  return (
    <Page
      title="Rules"
      lead="They decide at the edge, before a request reaches the site. Every edge follows within seconds."
      actions={
        <>
          <ButtonLink href={to('explain')}>Try a visitor</ButtonLink>
          <ButtonLink href={to('history')}>History</ButtonLink>
          <Download
            label="Export"
            sent={{ method: 'POST', path: '/protect/access-rules/export', body: ruleExportBody(params) }}
            fileName="access-rules.csv"
          />
          {mayChange && (
            <>
              <ButtonLink href={to('import')}>Import a list</ButtonLink>
              <Button kind="primary" onClick={() => setEdited('new')}>
                Add rules
              </Button>
            </>
          )}
        </>
      }
    >
      <FilterForm verb="Find" fields={fields} />
      <RefusalNotice error={failure} />
      <Load
        of={loaded}
        isEmpty={({ length }) => length === 0}
        emptyTitle="No rule here"
        emptyText="Without rules, address categories, risk scores and the policy of the instance decide."
      >
        {(rules) => (
          <>
            <p class="soft" role="status">
              {counted(rules.length, 'rule')}
              {hasMore ? ', and more' : ''}
            </p>
            <RuleTable
              onNearEnd={loadMore}
              rules={rules}
              mayChange={mayChange}
              onEdit={setEdited}
              onDelete={(rule) => void remove(rule)}
            />
            {hasMore && (
              <Button isBusy={isLoading} onClick={loadMore}>
                Load more
              </Button>
            )}
          </>
        )}
      </Load>
      {edited !== null && siteKey !== null && (
        <AddRules
          siteKey={siteKey}
          edited={edited === 'new' ? null : edited}
          onClose={() => setEdited(null)}
          onDone={reload}
        />
      )}
    </Page>
  );
}

/** Which rules are listed: by what they say, or by a visitor that they match. */
const fields: readonly FilterField[] = [
  {
    param: 'type',
    label: 'Matches',
    none: 'anything',
    options: Object.entries(ruleTypes).map(([type, { name }]) => [type, name] as const),
  },
  { param: 'verdict', label: 'Verdict', options: decisions },
  ...textFilters.map((field) => ({ ...field, maxLength: forms.accessRule.value.maxLength })),
];
