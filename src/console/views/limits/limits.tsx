/** The limits of an instance: what each lets through, who was above it, and forms that add and change one. */
import { useState } from 'preact/hooks';
import { useCall } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Chip } from '../../components/values.tsx';
import { Load, Page } from '../../components/page.tsx';
import { OfInstance } from '../../components/of-instance.tsx';
import { Table } from '../../components/table.tsx';
import { counted } from '../../format/numbers.ts';
import { shownInstance, siteOf, siteParam } from '../../frame/instances.ts';
import { addressOf, type Params, useParams } from '../../url/params.ts';
import { type LimitAct, LimitDialog } from './limit-dialog.tsx';
import { LimitEditor } from './limit-form.tsx';
import { type ListedLimit, usersOf } from './limit-set.ts';
import type { StoredSet } from '../policies/policy.ts';
import { saidWithUndo } from '../policies/said-with-undo.ts';
import { actionWords, allowanceText, keyPartWords } from './limit-words.ts';

const DAY_MS = 86_400_000;

export default function Limits() {
  const [params] = useParams();
  const [isAdding, setIsAdding] = useState(false);
  const [hitsSince] = useState(() => Date.now() - DAY_MS);
  const instance = shownInstance(params);
  const site = siteOf(params);
  const loaded = useCall('/protect/policies', instance === null ? null : { ...site, hitsSince });
  const { value: set, reload } = loaded;
  const mayChange = may('updateProtectSettings') && set !== null;
  return (
    <Page
      title="Limits"
      lead="How often something may happen, and what a visitor above that gets. Policies say which requests a limit is for."
      actions={
        mayChange && (
          <Button kind="primary" onClick={() => setIsAdding(true)}>
            Add a limit
          </Button>
        )
      }
      calls={
        set === null
          ? []
          : [
              {
                method: 'POST',
                path: '/protect/policies/set',
                body: { ...site, ifVersion: set.version, limits: set.limits },
              },
            ]
      }
    >
      <OfInstance monitored="The instance is in monitor mode: limits are recorded, and refuse nobody.">
        {() => (
          <Load
            of={loaded}
            isEmpty={({ limits }) => limits.length === 0}
            emptyTitle="No limit yet"
            emptyText="Let one address try to log in ten times a minute, or one session order three times an hour."
          >
            {(shown) => <LimitTable site={site} set={shown} params={params} mayChange={mayChange} onChange={reload} />}
          </Load>
        )}
      </OfInstance>
      {isAdding && set !== null && (
        <LimitEditor
          site={site}
          set={set}
          limit={null}
          onClose={() => setIsAdding(false)}
          onSaved={(name, version) => {
            setIsAdding(false);
            const text = `${name} was added. The edges follow with their next poll, five seconds by default.`;
            saidWithUndo(text, site, version, reload);
            reload();
          }}
        />
      )}
    </Page>
  );
}

interface LimitTableProps {
  site: { siteKey?: string };
  set: StoredSet;
  params: Params;
  mayChange: boolean;
  onChange: () => void;
}

function LimitTable({ site, set, params, mayChange, onChange }: LimitTableProps) {
  const [open, setOpen] = useState<{ act: LimitAct; limit: ListedLimit } | null>(null);
  const hitsOf = (name: string): number | null => set.limitHits?.[name]?.total ?? null;
  return (
    <>
      <Table
        caption="Limits"
        rows={set.limits}
        keyOf={({ name }) => name}
        columns={[
          { title: 'Limit', isWrapped: true, cell: (limit) => <Name limit={limit} /> },
          {
            title: 'Lets through',
            isWrapped: true,
            cell: (limit) => (
              <>
                {allowanceText(limit)}
                <div class="soft">for each {limit.key.map(keyPartWords).join(' + ')}</div>
              </>
            ),
          },
          { title: 'Above it', isWrapped: true, cell: ({ then }) => actionWords[then] },
          {
            title: 'Policies',
            isWrapped: true,
            cell: ({ name }) => <Users users={usersOf(set, name)} params={params} />,
          },
          {
            title: 'Above it, 24 hours',
            isNumber: true,
            cell: ({ name }) =>
              hitsOf(name) === null ? (
                '–'
              ) : (
                <a href={addressOf('/console/verdicts', { ...siteParam(params), range: '24h', rule: `limit:${name}` })}>
                  {counted(hitsOf(name) ?? 0, 'request')}
                </a>
              ),
          },
          {
            title: 'Actions',
            cell: (limit) => mayChange && <LimitActions limit={limit} onAct={(act) => setOpen({ act, limit })} />,
          },
        ]}
      />
      {open !== null && (
        <LimitDialog
          site={site}
          set={set}
          limit={open.limit}
          act={open.act}
          hits={hitsOf(open.limit.name)}
          onClose={() => setOpen(null)}
          onChange={onChange}
        />
      )}
      {set.hitsAreExact === false && (
        <p class="hint">More rules fired than the log counts apart, so the true numbers are higher.</p>
      )}
    </>
  );
}

function Name({ limit: { name, mode, exact } }: { limit: ListedLimit }) {
  return (
    <>
      <b>{name}</b>
      <div>
        <span class="chips">
          {mode === 'enforce' ? <Chip tone="info">enforced</Chip> : <Chip>monitored</Chip>}
          {exact && <Chip title="Never one too many: each request waits for the counter">exact</Chip>}
        </span>
      </div>
    </>
  );
}

function Users({ users, params }: { users: readonly string[]; params: Params }) {
  return users.length === 0 ? (
    <Chip tone="warn">none: nothing counts</Chip>
  ) : (
    <a href={addressOf('/console/policies', siteParam(params))}>{users.join(', ')}</a>
  );
}

export interface LimitActionsProps {
  limit: ListedLimit;
  onAct: (act: LimitAct) => void;
}

/** The buttons of a limit. Each opens a dialog that asks first. */
export function LimitActions({ limit: { name, mode }, onAct }: LimitActionsProps) {
  const [word, label] = mode === 'monitor' ? ['Enforce…', 'Enforce'] : ['Only monitor…', 'Only monitor'];
  return (
    <div class="actions">
      <Button isSmall label={`${label} ${name}`} onClick={() => onAct('mode')}>
        {word}
      </Button>
      <Button isSmall label={`Change ${name}`} onClick={() => onAct('change')}>
        Change…
      </Button>
      <Button isSmall kind="danger" label={`Remove ${name}`} onClick={() => onAct('remove')}>
        Remove…
      </Button>
    </div>
  );
}
