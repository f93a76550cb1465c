/** The account's Protect instances, and a form for a new one. */
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Chip } from '../../components/chip.tsx';
import { Load } from '../../components/load.tsx';
import { EmptyState } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { type Instance, instanceAddress, instancesLoaded, loadInstances } from '../../frame/instances.ts';
import { NewInstance } from './new-instance.tsx';

export function modeOf({ active, monitor, rollout }: Instance) {
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
        empty={
          <EmptyState title="No instance yet">
            <p>Create one for the site that you want to put the gate in front of. It starts in monitor mode.</p>
          </EmptyState>
        }
      >
        {(list) => (
          <Table
            caption="Instances"
            rows={list}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Name', cell: (one) => <a href={instanceAddress(one)}>{one.name}</a> },
              { title: 'Mode', cell: modeOf },
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
