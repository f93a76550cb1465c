/** The account's sites: what a widget or an instance belongs to. */
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import { call, useCall } from '../../api/call.ts';
import type { Schema } from '../../api/service-api.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Chip, Time } from '../../components/values.tsx';
import { Load, Page } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { CreateDialog } from '../../components/dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { useForm } from '../../settings/form.tsx';
import { valueText } from '../../settings/setting-words.ts';

export type ListedSite = Schema<'Site'>;

export function siteAddress({ siteKey }: Pick<ListedSite, 'siteKey'>): string {
  return `/console/sites/${encodeURIComponent(siteKey)}`;
}

export default function Sites() {
  const { route } = useLocation();
  const loaded = useCall('/sites/get', {});
  const [isCreating, setIsCreating] = useState(false);
  return (
    <Page
      title="Sites"
      lead="A site has the keys of a widget and of your backend, and says how its visitors are challenged."
      actions={
        may('createSite') && (
          <Button kind="primary" onClick={() => setIsCreating(true)}>
            New site
          </Button>
        )
      }
    >
      <Load
        of={loaded}
        isEmpty={({ length }) => length === 0}
        emptyTitle="No site yet"
        emptyText="Create one for the pages that show the widget, or for an instance of the gate."
      >
        {(sites) => (
          <Table
            caption="Sites"
            rows={sites}
            keyOf={({ siteKey }) => siteKey}
            columns={[
              { title: 'Name', cell: (site) => <a href={siteAddress(site)}>{site.name}</a> },
              {
                title: 'State',
                cell: ({ active, isDefault }) => (
                  <>
                    <Chip tone={active ? 'allow' : 'plain'}>{active ? 'active' : 'inactive'}</Chip>{' '}
                    {isDefault && <Chip tone="info">default</Chip>}
                  </>
                ),
              },
              { title: 'Challenge', cell: ({ settings }) => valueText(settings.captchaType) },
              { title: 'Domains', isWide: true, cell: ({ settings }) => settings.domains.join(', ') },
              { title: 'Site key', cell: ({ siteKey }) => <code>{siteKey}</code> },
              { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} isBrief /> },
            ]}
          />
        )}
      </Load>
      {isCreating && <NewSite onClose={() => setIsCreating(false)} onCreated={(site) => route(siteAddress(site))} />}
    </Page>
  );
}

export interface NewSiteProps {
  onClose: () => void;
  onCreated: (site: Schema<'SiteWithSecretKey'>) => void;
}

/** A form for a new site. */
export function NewSite({ onClose, onCreated }: NewSiteProps) {
  const form = useForm({ name: '', domains: '' }, forms.site);
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
      {form.fields([
        { name: 'name', label: 'Name', hint: 'Letters, digits, hyphens and underscores.' },
        {
          name: 'domains',
          label: 'Domains',
          hint: 'Pages that may show the widget: shop.example or *.shop.example, one per line.',
          rows: 3,
          isMono: true,
        },
      ])}
    </CreateDialog>
  );
}
