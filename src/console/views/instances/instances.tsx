/** The account's Protect instances, and a form for a new one. */
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Chip, Time } from '../../components/values.tsx';
import { Load, Page } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import {
  choosableInstances,
  instanceAddress,
  instancesLoaded,
  loadInstances,
  type Instance,
} from '../../frame/instances.ts';
import { call, type Refusal, useCall } from '../../api/call.ts';
import type { Result } from '../../../result.ts';
import { CreateDialog } from '../../components/dialog.tsx';
import { SelectField } from '../../components/field.tsx';
import { toast } from '../../components/toast.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { useForm } from '../../settings/form.tsx';

export function modeChip({ active, monitor, rollout }: Instance) {
  if (!active) return <Chip>deleted</Chip>;
  if (monitor) return <Chip tone="warn">monitor: enforces nothing</Chip>;
  return rollout < 100 ? <Chip tone="info">enforces for {rollout} %</Chip> : <Chip tone="allow">enforces</Chip>;
}

export default function Instances() {
  const { route } = useLocation();
  const [isCreating, setIsCreating] = useState(false);
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
    >
      <Load
        of={instancesLoaded()}
        isEmpty={({ length }) => length === 0}
        emptyTitle="No instance yet"
        emptyText="Create one for the site that you want to put the gate in front of. It starts in monitor mode."
      >
        {(list) => (
          <Table
            caption="Instances"
            rows={list}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Name', cell: (one) => <a href={instanceAddress(one)}>{one.name}</a> },
              { title: 'Mode', cell: modeChip },
              { title: 'Host name', isWide: true, cell: ({ cname }) => cname },
              { title: 'Site key', cell: ({ globalSiteKey }) => <code>{globalSiteKey}</code> },
              { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} isBrief /> },
              { title: 'Changed', cell: ({ updatedAt }) => <Time at={updatedAt} isBrief /> },
            ]}
          />
        )}
      </Load>
      {isCreating && (
        <NewInstance onClose={() => setIsCreating(false)} onCreated={(one) => route(instanceAddress(one))} />
      )}
    </Page>
  );
}

export interface NewInstanceProps {
  onClose: () => void;
  onCreated: (instance: Instance) => void;
}

/** A form for a new instance of a site that has none. */
export function NewInstance({ onClose, onCreated }: NewInstanceProps) {
  const sites = useCall('/sites/get', {});
  const taken = new Set(choosableInstances().map((one) => one.globalSiteKey));
  const free = (sites.value ?? []).filter(({ active, siteKey }) => active && !taken.has(siteKey));
  const form = useForm({ name: '', cname: '' }, forms.instance);
  const { name, cname } = form.draft;
  const [chosen, setChosen] = useState<string | null>(null);
  const siteKey = chosen ?? free[0]?.siteKey ?? '';
  const create = async (): Promise<Result<Instance, Refusal>> => {
    const answer = await call('/protect/instances/create', { name, cname, globalSiteKey: siteKey });
    if (answer.ok) await loadInstances();
    return answer;
  };
  return (
    <CreateDialog
      title="New instance"
      isComplete={form.isComplete && siteKey !== ''}
      send={create}
      onMade={(instance) => {
        toast(`${name} was created. It is in monitor mode.`);
        onClose();
        onCreated(instance);
      }}
      onClose={onClose}
    >
      <Load of={sites} />
      {sites.value !== null && free.length === 0 && (
        <p>
          Every active site belongs to an instance already. <a href="/console/sites">Create a site</a> first.
        </p>
      )}
      {form.fields([
        { name: 'name', label: 'Name', hint: 'For people.', isRequired: true },
        {
          name: 'cname',
          label: 'Host name',
          hint: 'Of the protected site, such as www.shop.example.',
          isRequired: true,
        },
      ])}
      <SelectField
        label="Site"
        hint="Its challenges and tokens are what the gate uses."
        value={siteKey}
        options={free.map((site) => [site.siteKey, site.name] as const)}
        onChange={setChosen}
      />
    </CreateDialog>
  );
}
