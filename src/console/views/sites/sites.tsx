/** The account's sites: what a widget or an instance belongs to. */
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import { call, useCall } from '../../api/call.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import { may } from '../../api/session.ts';
import type { Refusal } from '../../api/send.ts';
import { Button } from '../../components/button.tsx';
import { Chip } from '../../components/chip.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { EmptyState, RefusalNotice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';

export type Site = ResponseOf<'/sites/get'>[number];

export function siteAddress({ siteKey }: Pick<Site, 'siteKey'>): string {
  return `/console/sites/${encodeURIComponent(siteKey)}`;
}

export default function Sites() {
  const { value, error, reload } = useCall('/sites/get', {});
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
      calls={[{ method: 'POST', path: '/sites/get', body: {} }]}
    >
      {error !== null && <RefusalNotice error={error} onRetry={reload} />}
      {value?.length === 0 && (
        <EmptyState title="No site yet">
          <p>Create one for the pages that show the widget, or for an instance of the gate.</p>
        </EmptyState>
      )}
      {value !== null && value.length > 0 && (
        <Table
          caption="Sites"
          rows={value}
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
            { title: 'Challenge', cell: ({ settings }) => settings.captchaType },
            { title: 'Domains', isWide: true, cell: ({ settings }) => settings.domains.join(', ') },
            { title: 'Site key', cell: ({ siteKey }) => <code>{siteKey}</code> },
            { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
          ]}
        />
      )}
      {isCreating && <NewSite onClose={() => setIsCreating(false)} />}
    </Page>
  );
}

function NewSite({ onClose }: { onClose: () => void }) {
  const { route } = useLocation();
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
    route(siteAddress(answer.value));
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
