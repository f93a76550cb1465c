/** A form for a new site. */
import { call } from '../../api/call.ts';
import type { Schema } from '../../api/service-api.ts';
import { CreateDialog } from '../../components/create-dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { toast } from '../../components/toast.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { useForm } from '../../settings/use-form.ts';

export interface NewSiteProps {
  onClose: () => void;
  onCreated: (site: Schema<'SiteWithSecretKey'>) => void;
}

export function NewSite({ onClose, onCreated }: NewSiteProps) {
  const form = useForm(
    () => ({ name: '', domains: '' }),
    () => forms.site,
  );
  const { name, domains } = form.draft;
  return (
    <CreateDialog
      title="New site"
      isComplete={form.isComplete && domains !== ''}
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
      <TextField {...form.text('name')} label="Name" hint="Letters, digits, hyphens and underscores." />
      <TextField
        {...form.text('domains')}
        label="Domains"
        hint="Pages that may show the widget: shop.example or *.shop.example, one per line."
        rows={3}
        isMono
      />
    </CreateDialog>
  );
}
