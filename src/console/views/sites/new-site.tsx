/** A form for a new site. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import type { Refusal } from '../../api/send.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { RefusalNotice } from '../../components/notice.tsx';
import { toast } from '../../components/toast.tsx';

export interface NewSiteProps {
  onClose: () => void;
  onCreated: (site: ResponseOf<'/sites/create'>) => void;
}

export function NewSite({ onClose, onCreated }: NewSiteProps) {
  const [name, setName] = useState('');
  const [domains, setDomains] = useState('');
  const [error, setError] = useState<Refusal | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const create = async (): Promise<void> => {
    setIsBusy(true);
    const answer = await call('/sites/create', {
      name,
      settings: { domains: domains.split(/[\s,]+/).filter((domain) => domain !== '') },
    });
    setIsBusy(false);
    if (!answer.ok) {
      setError(answer.error);
      return;
    }
    toast(`${name} was created.`);
    onClose();
    onCreated(answer.value);
  };
  return (
    <Dialog
      title="New site"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            isBusy={isBusy}
            isDisabled={name === '' || domains === ''}
            onClick={() => void create()}
          >
            Create
          </Button>
        </>
      }
    >
      {error !== null && <RefusalNotice error={error} />}
      <TextField
        label="Name"
        hint="Letters, digits, hyphens and underscores."
        value={name}
        onInput={setName}
        maxLength={128}
      />
      <TextField
        label="Domains"
        hint="Pages that may show the widget: shop.example or *.shop.example, one per line."
        value={domains}
        onInput={setDomains}
        rows={3}
        isMono
      />
    </Dialog>
  );
}
