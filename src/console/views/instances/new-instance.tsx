/** A form for a new instance of a site that has none. */
import { useState } from 'preact/hooks';
import { call, useCall } from '../../api/call.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import type { Refusal } from '../../api/send.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { RefusalNotice } from '../../components/notice.tsx';
import { toast } from '../../components/toast.tsx';
import { instances, loadInstances } from '../../frame/instances.ts';

export interface NewInstanceProps {
  onClose: () => void;
  onCreated: (instance: ResponseOf<'/protect/instances/create'>) => void;
}

export function NewInstance({ onClose, onCreated }: NewInstanceProps) {
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
    onCreated(answer.value);
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
