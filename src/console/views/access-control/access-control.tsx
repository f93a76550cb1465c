/** Access control rules of the captchas: who is refused or gets a harder one, a page at a time, and the rule groups. */
import { useState } from 'preact/hooks';
import { call, type Refusal, useCall } from '../../api/call.ts';
import type { RequestOf } from '../../api/service-api.ts';
import { may } from '../../api/session.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Chip, Time, VisitorText } from '../../components/values.tsx';
import { SelectField } from '../../components/field.tsx';
import { EmptyState, Load, Page, RefusalNotice } from '../../components/page.tsx';
import { NumberedPages, pageOf } from '../../components/numbered-pages.tsx';
import { Table } from '../../components/table.tsx';
import { toast } from '../../components/toast.tsx';
import { counted } from '../../format/numbers.ts';
import { valueText } from '../../settings/setting-words.ts';
import { addressOf, type Params, useParams } from '../../url/params.ts';
import { RuleGroups, type ListedRule } from './rule-groups.tsx';
import { conditionFields, NewAccessControlRule } from './new-rule.tsx';

type Query = RequestOf<'/access-control/get'>;

const PATH = '/console/access-control';
const RULES_PER_PAGE = 100;
const VALUE_MAX_CHARS = 80;

const fieldWords = new Map<string, string>(conditionFields.map(([field, name]) => [field, name]));

const orders = {
  newest: ['Newest first', 'createdAt', -1],
  oldest: ['Oldest first', 'createdAt', 1],
  expiry: ['Expires first', 'expiry', 1],
  description: ['By description', 'description', 1],
  group: ['By group', 'ruleGroupId', 1],
} as const;
type Order = keyof typeof orders;

export default function AccessControl() {
  const [params, change] = useParams();
  const order = orderOf(params);
  const query = queryOf(params);
  const loaded = useCall('/access-control/get', query);
  const { reload } = loaded;
  const [isCreating, setIsCreating] = useState(false);
  const [failure, setFailure] = useState<Refusal | null>(null);
  const remove = async (rule: ListedRule): Promise<void> => {
    const answer = await call('/access-control/delete', { userScopeHash: rule.userScopeHash });
    setFailure(answer.ok ? null : answer.error);
    // The service takes a listed rule back as it is, except one that has expired.
    if (answer.ok) toast('The rule was deleted.', rule.expired ? {} : { undo: () => void putBack(rule) });
    reload();
  };
  const putBack = async (rule: ListedRule): Promise<void> => {
    const answer = await call('/access-control/create', { rule });
    setFailure(answer.ok ? null : answer.error);
    reload();
  };
  return (
    <Page
      title="Captcha rules"
      lead="They block visitors of your captchas, or give them a harder one. Rules of the gate are another list: they decide about requests."
      actions={
        may('createRule') && (
          <Button kind="primary" onClick={() => setIsCreating(true)}>
            New rule
          </Button>
        )
      }
    >
      <RefusalNotice error={failure} />
      <div class="filters">
        <SelectField
          label="Order"
          value={order}
          options={Object.entries(orders).map(([name, [text]]) => [name as Order, text] as const)}
          onChange={(next) => change({ order: next === 'newest' ? null : next, page: null })}
        />
      </div>
      {params['group'] !== undefined && (
        <p class="actions">
          <span>
            Only the group <VisitorText text={params['group']} maxChars={VALUE_MAX_CHARS} />
          </span>
          <ButtonLink isSmall href={addressOf(PATH, { ...params, group: null, page: null })}>
            All rules
          </ButtonLink>
        </p>
      )}
      <Load of={loaded}>
        {({ rules, ruleCount, page, pages, ruleGroupsAndCounts }) => (
          <>
            {rules.length === 0 ? (
              <EmptyState title={ruleCount === 0 ? 'No captcha rule here' : 'No rule on this page'}>
                <p>
                  A rule matches an address, a network, a country, a fingerprint, a user agent or one of your user ids.
                </p>
              </EmptyState>
            ) : (
              <Rules rules={rules} onDelete={(rule) => void remove(rule)} />
            )}
            <NumberedPages page={page} pages={pages} total={counted(ruleCount, 'rule')} />
            <RuleGroups groups={ruleGroupsAndCounts} onGone={reload} onFailure={setFailure} />
          </>
        )}
      </Load>
      {isCreating && (
        <NewAccessControlRule
          onClose={() => setIsCreating(false)}
          onCreated={() => {
            setIsCreating(false);
            toast('The rule applies to challenges from now on.');
            reload();
          }}
        />
      )}
    </Page>
  );
}

function Rules({ rules, onDelete }: { rules: readonly ListedRule[]; onDelete: (rule: ListedRule) => void }) {
  return (
    <Table
      caption="Captcha rules"
      rows={rules}
      keyOf={({ userScopeHash }) => userScopeHash}
      columns={[
        { title: 'Does', cell: ({ type }) => <Chip tone={type === 'block' ? 'block' : 'challenge'}>{type}</Chip> },
        {
          title: 'When all of',
          isWide: true,
          isWrapped: true,
          cell: ({ conditions }) =>
            conditions.map(({ field, value }) => (
              <div key={field}>
                {fieldWords.get(field) ?? field}: <VisitorText text={value} maxChars={VALUE_MAX_CHARS} />
              </div>
            )),
        },
        { title: 'With', isWrapped: true, cell: (rule) => restrictionText(rule) || <span class="soft">–</span> },
        {
          title: 'Description',
          isWrapped: true,
          cell: ({ description }) => <VisitorText text={description ?? null} maxChars={VALUE_MAX_CHARS} />,
        },
        {
          title: 'Group',
          cell: ({ ruleGroupId }) => <VisitorText text={ruleGroupId ?? null} maxChars={VALUE_MAX_CHARS} />,
        },
        {
          title: 'Expires',
          cell: ({ expiry, expired }) => (
            <>
              <Time at={expiry} /> {expired && <Chip>expired</Chip>}
            </>
          ),
        },
        {
          title: 'Actions',
          cell: (rule) =>
            may('deleteRule') && (
              <Button
                isSmall
                kind="danger"
                label={`Delete the rule on ${rule.conditions.map(({ value }) => value).join(' and ')}`}
                onClick={() => onDelete(rule)}
              >
                Delete
              </Button>
            ),
        },
      ]}
    />
  );
}

function orderOf(params: Params): Order {
  const { order } = params;
  return order !== undefined && Object.hasOwn(orders, order) ? (order as Order) : 'newest';
}

function queryOf(params: Params): Query {
  const [, sortBy, sortOrder] = orders[orderOf(params)];
  return {
    page: pageOf(params),
    limit: RULES_PER_PAGE,
    sortBy,
    sortOrder,
    ...(params['group'] === undefined ? {} : { ruleGroupId: params['group'] }),
  };
}

function restrictionText(rule: ListedRule): string {
  const parts = [
    rule.captchaType !== undefined && valueText(rule.captchaType),
    rule.powDifficulty !== undefined && `difficulty ${rule.powDifficulty}`,
    rule.solvedImagesCount !== undefined && `${rule.solvedImagesCount} known pictures`,
    rule.unsolvedImagesCount !== undefined && `${rule.unsolvedImagesCount} unknown pictures`,
    rule.imageThreshold !== undefined && `threshold ${rule.imageThreshold}`,
    rule.frictionlessScore !== undefined && `score ${rule.frictionlessScore > 0 ? '+' : ''}${rule.frictionlessScore}`,
    rule.deferToVerify === true && 'at verification',
  ];
  return parts.filter(Boolean).join(', ');
}
