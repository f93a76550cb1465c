/** The account's Protect instances, and a form for a new one. */
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { call, useCall } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import type { Refusal } from '../../api/send.ts';
import { Button } from '../../components/button.tsx';
import { Chip } from '../../components/chip.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { EmptyState, RefusalNotice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { instances, loadInstances } from '../../frame/instances.ts';
import type { Instance } from '../../frame/instances.ts';

export function instanceAddress({ id }: Pick<Instance, 'id'>): string {
  return `/console/instances/${encodeURIComponent(id)}`;
}

export function modeOf({ active, monitor, rollout }: Instance) {
  if (!active) return <Chip>deleted</Chip>;
  if (monitor) return <Chip tone="warn">monitor: enforces nothing</Chip>;
  return rollout < 100 ? <Chip tone="info">enforces for {rollout} %</Chip> : <Chip tone="allow">enforces</Chip>;
}

export default function Instances() {
  const [isCreating, setIsCreating] = useState(false);
  const { list, error } = instances.value;
  useEffect(() => void loadInstances(), []);
  return (
    <Page
      title="Instances"
      lead="An instance is what one edge enforces for one site."
      actions={
        may('updateProtectSettings') && (
          <Button kind="primary" onClick={() => setIsCreating(true)}>
            New instance
          </Button>
        )
      }
      calls={[{ method: 'POST', path: '/protect/instances', body: {} }]}
    >
      {error !== null && <RefusalNotice error={error} onRetry={() => void loadInstances()} />}
      {list !== null && list.length === 0 && (
        <EmptyState title="No instance yet">
          <p>Create one for the site that you want to put the gate in front of. It starts in monitor mode.</p>
        </EmptyState>
      )}
      {list !== null && list.length > 0 && (
        <Table
          caption="Instances"
          rows={list}
          keyOf={({ id }) => id}
          columns={[
            { title: 'Name', cell: (one) => <a href={instanceAddress(one)}>{one.name}</a> },
            { title: 'Mode', cell: modeOf },
            { title: 'Host name', isWide: true, cell: ({ cname }) => cname },
            { title: 'Site key', cell: ({ globalSiteKey }) => <code>{globalSiteKey}</code> },
            { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
            { title: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} /> },
          ]}
        />
      )}
      {isCreating && <NewInstance onClose={() => setIsCreating(false)} />}
    </Page>
  );
}

function NewInstance({ onClose }: { onClose: () => void }) {
  const { route } = useLocation();
  const sites = useCall('/sites/get', {});
  const taken = new Set((instances.value.list ?? []).filter(({ active }) => active).map((one) => one.globalSiteKey));
  const free = (sites.value ?? []).filter(({ active, siteKey }) => active && !taken.has(siteKey));
  const [name, setName] = useState('');
  const [cname, setCname] = useState('');
  const [chosen, setChosen] = useState<string | null>(null);
  const [error, setError] = useState<Refusal | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const siteKey = chosen ?? free[0]?.siteKey ?? '';
  const create = async (): Promise<void> => {
    setIsBusy(true);
    const answer = await call('/protect/instances/create', { name, cname, globalSiteKey: siteKey });
    setIsBusy(false);
    if (!answer.ok) {
      setError(answer.error);
      return;
    }
    await loadInstances();
    toast(`${name} was created. It is in monitor mode.`);
    onClose();
    route(instanceAddress(answer.value));
  };
  return (
    <Dialog
      title="New instance"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            isBusy={isBusy}
            isDisabled={name === '' || cname === '' || siteKey === ''}
            onClick={() => void create()}
          >
            Create
          </Button>
        </>
      }
    >
      {error !== null && <RefusalNotice error={error} />}
      {sites.error !== null && <RefusalNotice error={sites.error} />}
      {sites.value !== null && free.length === 0 && (
        <p>
          Every active site belongs to an instance already. <a href="/console/sites">Create a site</a> first.
        </p>
      )}
      <TextField label="Name" hint="For people." value={name} onInput={setName} maxLength={256} isRequired />
      <TextField
        label="Host name"
        hint="Of the protected site, such as www.shop.example."
        value={cname}
        onInput={setCname}
        maxLength={255}
        isRequired
      />
      <SelectField
        label="Site"
        hint="Its challenges and tokens are what the gate uses."
        value={siteKey}
        options={free.map((site) => [site.siteKey, site.name] as const)}
        onChange={setChosen}
      />
    </Dialog>
  );
}
