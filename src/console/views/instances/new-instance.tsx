/** A form for a new instance of a site that has none. */
import { useState } from 'preact/hooks';
import { call, useCall } from '../../api/call.ts';
import type { Result } from '../../../result.ts';
import type { Refusal } from '../../api/send.ts';
import { CreateDialog } from '../../components/create-dialog.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { Load } from '../../components/load.tsx';
import { toast } from '../../components/toast.tsx';
import { activeInstances, type Instance, loadInstances } from '../../frame/instances.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { useForm } from '../../settings/use-form.ts';

export interface NewInstanceProps {
  onClose: () => void;
  onCreated: (instance: Instance) => void;
}

export function NewInstance({ onClose, onCreated }: NewInstanceProps) {
  const sites = useCall('/sites/get', {});
  const taken = new Set(activeInstances().map((one) => one.globalSiteKey));
  const free = (sites.value ?? []).filter(({ active, siteKey }) => active && !taken.has(siteKey));
  const form = useForm(
    () => ({ name: '', cname: '' }),
    () => forms.instance,
  );
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
      <TextField {...form.text('name')} label="Name" hint="For people." isRequired />
      <TextField
        {...form.text('cname')}
        label="Host name"
        hint="Of the protected site, such as www.shop.example."
        isRequired
      />
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
