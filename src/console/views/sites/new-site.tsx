/** A form for a new site. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import type { Schema } from '../../api/service-api.ts';
import { CreateDialog } from '../../components/create-dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { toast } from '../../components/toast.tsx';

export interface NewSiteProps {
  onClose: () => void;
  onCreated: (site: Schema<'SiteWithSecretKey'>) => void;
}

export function NewSite({ onClose, onCreated }: NewSiteProps) {
  const [name, setName] = useState('');
  const [domains, setDomains] = useState('');
  return (
    <CreateDialog
      title="New site"
      isComplete={name !== '' && domains !== ''}
      send={() =>
        call('/sites/create', {
          name,
          settings: { domains: domains.split(/[\s,]+/).filter((domain) => domain !== '') },
        })
      }
      onMade={(site) => {
        toast(`${name} was created.`);
        onClose();
        onCreated(site);
      }}
      onClose={onClose}
    >
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
    </CreateDialog>
  );
}
