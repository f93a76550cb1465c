/** The edge access rules of an instance: find, add, change, delete, each with an undo. */
import { useState } from 'preact/hooks';
import { may } from '../../api/session.ts';
import type { Refusal } from '../../api/call.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Download } from '../../components/download.tsx';
import { Load, Page, RefusalNotice } from '../../components/page.tsx';
import { counted } from '../../format/numbers.ts';
import { chosenInstance, siteParam } from '../../frame/instances.ts';
import { addressOf, useDraft, useParams } from '../../url/params.ts';
import { AddRules } from './add-rules.tsx';
import { changeRule } from './rule-change.ts';
import { ruleTypes, type Rule } from './rule.ts';
import { RuleTable } from './rule-table.tsx';
import { exportBody, textFilters, useRules } from './use-rules.ts';
import { SelectField, TextField } from '../../components/field.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { FilterForm, optionsOf } from '../../components/filter-form.tsx';
import { decisions } from '../../../contract/vocabulary.ts';

export default function Rules() {
  const [params] = useParams();
  const siteKey = chosenInstance(params)?.globalSiteKey ?? null;
  const loaded = useRules(params);
  const { isLoading, hasMore, loadMore, reload } = loaded;
  const [edited, setEdited] = useState<Rule | 'new' | null>(null);
  const [failure, setFailure] = useState<Refusal | null>(null);
  const mayChange = siteKey !== null && may('updateProtectSettings');

  const remove = async (rule: Rule): Promise<void> => {
    if (siteKey === null) return;
    setFailure(await changeRule(siteKey, rule, rule, null, reload));
    reload();
  };
  const to = (path: string) => addressOf(`/console/rules/${path}`, siteParam(params));
  return (
    <Page
      title="Edge access rules"
      lead="They decide at the edge, before a request reaches the site. Every edge follows within seconds."
      actions={
        <>
          <ButtonLink href={to('explain')}>Try a visitor</ButtonLink>
          <ButtonLink href={to('history')}>History</ButtonLink>
          <Download
            label="Export"
            sent={{ method: 'POST', path: '/protect/access-rules/export', body: exportBody(params) }}
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
      <RuleFilters />
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

const texts = textFilters.map(([name]) => name);
const cleared = Object.fromEntries(['type', 'verdict', ...texts].map((name) => [name, null]));

/** Which rules are listed: by what they say, or by a visitor that they match. */
export function RuleFilters() {
  const [params, change] = useParams();
  const { textOf, write, typed } = useDraft(texts);
  const types = Object.entries(ruleTypes).map(([type, { name }]) => [type, name] as const);
  const isFiltered = Object.keys(cleared).some((name) => params[name] !== undefined);
  return (
    <FilterForm verb="Find" onSubmit={() => change(typed())} onClear={isFiltered ? () => change(cleared) : null}>
      <SelectField
        label="Matches"
        value={params['type'] ?? ''}
        options={[['', 'anything'], ...types]}
        onChange={(type) => change({ ...typed(), type })}
      />
      <SelectField
        label="Verdict"
        value={params['verdict'] ?? ''}
        options={optionsOf('any', decisions)}
        onChange={(verdict) => change({ ...typed(), verdict })}
      />
      {textFilters.map(([name, label, placeholder]) => (
        <TextField
          key={name}
          label={label}
          placeholder={placeholder}
          isMono
          maxLength={forms.accessRule.value.maxLength}
          value={textOf(name)}
          onInput={(text) => write(name, text)}
        />
      ))}
    </FilterForm>
  );
}
