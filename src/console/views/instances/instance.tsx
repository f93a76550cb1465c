/** One instance: whether it enforces, attack mode, its settings, its client JWTs, its log, and its end. */
import { useLocation, useRoute } from 'preact-iso/router';
import { call, useAction } from '../../api/call.ts';
import type { Schema } from '../../api/service-api.ts';
import { may } from '../../api/session.ts';
import { EmptyState, Facts, Load, Page, RefusalNotice, Section } from '../../components/page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { toast } from '../../components/toast.tsx';
import { type Instance, instanceAddress, instancesLoaded, loadInstances } from '../../frame/instances.ts';
import { SettingsForm } from '../../settings/settings-form.tsx';
import { instanceAsStored } from '../../settings/use-saved.tsx';
import { instanceGroups } from '../../settings/setting-words.ts';
import { instanceSettings } from '../../settings/instance-settings.generated.ts';
import { useParams } from '../../url/params.ts';
import { AttackSection } from '../attack/attack-section.tsx';
import { ClientJwts } from './client-jwts.tsx';
import { Enforcement } from './enforcement.tsx';
import { RebuildLog } from './rebuild-log.tsx';
import { modeChip } from './instances.tsx';
import { useState } from 'preact/hooks';
import { Button, CopyButton } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/values.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { useForm } from '../../settings/form.tsx';

const tabs = [
  ['', 'Settings'],
  ['jwts', 'Client JWTs'],
  ['origin-keys', 'Origin keys'],
  ['log', 'Log'],
  ['delete', 'Delete'],
] as const;

export default function Instance() {
  const { params: route } = useRoute();
  const [params] = useParams();
  const loaded = instancesLoaded();
  const instance = loaded.value?.find(({ id }) => id === route['id']);
  const tab = tabs.find(([name]) => name === params['tab'])?.[0] ?? '';
  return (
    <Page title={instance?.name ?? 'Instance'} actions={instance !== undefined && modeChip(instance)}>
      <Load of={loaded}>
        {() =>
          instance === undefined && (
            <EmptyState title="The account has no such instance">
              <p>
                See <a href="/console/instances">all instances</a>.
              </p>
            </EmptyState>
          )
        }
      </Load>
      {instance !== undefined && (
        <>
          <Section title="Identity">
            <Facts
              facts={[
                ['Id', <code>{instance.id}</code>],
                ['Host name', instance.cname],
                ['Site key', <code>{instance.globalSiteKey}</code>],
              ]}
            />
          </Section>
          {instance.active && <Enforcement instance={instance} />}
          {instance.active && <AttackSection key={instance.id} instance={instance} />}
          <Tabs
            label="Parts of the instance"
            tabs={tabs.map(([name, text]) => ({
              text,
              href: instanceAddress(instance) + (name === '' ? '' : `?tab=${name}`),
              isCurrent: name === tab,
            }))}
          />
          {tab === 'jwts' && <ClientJwts instance={instance} />}
          {tab === 'origin-keys' && <OriginKeys instance={instance} />}
          {tab === 'log' && <RebuildLog instance={instance} />}
          {tab === 'delete' && <DeleteInstance instance={instance} />}
          {tab === '' && <Settings key={instance.id} instance={instance} />}
        </>
      )}
    </Page>
  );
}

function Settings({ instance }: { instance: Instance }) {
  return (
    <SettingsForm
      groups={instanceGroups}
      schemas={instanceSettings}
      {...instanceAsStored(instance)}
      isDisabled={!instance.active || !may('updateProtectSettings')}
      savedText="Saved. The edges follow with their next poll, five seconds by default."
      onSaved={() => void loadInstances()}
    />
  );
}

/** The end of an instance, with what goes with it. */
export function DeleteInstance({ instance: { id, name, active } }: { instance: Instance }) {
  const { route } = useLocation();
  const [isAsking, setIsAsking] = useState(false);
  const [typed, setTyped] = useState('');
  const { error, run } = useAction();
  if (!active) return <p>This instance is deleted.</p>;
  const remove = async (): Promise<void> => {
    const done = await run(call('/protect/instances/delete', { id }));
    setIsAsking(false);
    if (done === null) return;
    toast(`${name} was deleted.`);
    await loadInstances();
    route('/console/instances');
  };
  return (
    <div class="stack">
      <RefusalNotice error={error} />
      <p>
        Its client JWTs stop working at once. Its access rules, verdicts and sessions are erased within a minute. This
        cannot be undone.
      </p>
      <div class="actions">
        <Button kind="danger" isDisabled={!may('updateProtectSettings')} onClick={() => setIsAsking(true)}>
          Delete {name}…
        </Button>
      </div>
      {isAsking && (
        <Confirm
          title={`Delete ${name}?`}
          verb="Delete"
          isConfirmed={typed === name}
          onClose={() => setIsAsking(false)}
          onConfirm={() => void remove()}
        >
          <p>Rules, verdicts and sessions of this instance are erased. Type its name to go on.</p>
          <TextField label="Name of the instance" value={typed} onInput={setTyped} />
        </Confirm>
      )}
    </div>
  );
}

/** The keys that an origin checks the gate's signature with. They are secrets: shown only when asked for. */
export function OriginKeys({ instance: { id } }: { instance: Instance }) {
  const form = useForm({ weeks: '8' }, forms.originKeys);
  const [keys, setKeys] = useState<readonly Schema<'OriginKey'>[] | null>(null);
  const { error, run } = useAction();
  const show = async (): Promise<void> => {
    const answer = await run(call('/protect/origin-keys', { protectInstanceId: id, weeks: Number(form.draft.weeks) }));
    if (answer !== null) setKeys(answer.keys);
  };
  return (
    <div class="stack">
      <p>
        With them, your origin can tell requests that came through the gate from others, by the header
        X-Protect-Signature. Each counts for a week. Keep them like passwords.
      </p>
      <RefusalNotice error={error} />
      <div class="row">
        {form.fields([{ name: 'weeks', label: 'Weeks ahead' }])}
        <Button isDisabled={!form.isComplete} onClick={() => void show()}>
          Show the keys
        </Button>
      </div>
      {keys !== null && (
        <Table
          caption="Origin keys"
          rows={keys}
          keyOf={({ kid }) => kid}
          columns={[
            { title: 'Id', cell: ({ kid }) => <code>{kid}</code> },
            { title: 'From', cell: ({ validFrom }) => <Time at={validFrom} /> },
            { title: 'Until', cell: ({ validUntil }) => <Time at={validUntil} /> },
            { title: 'Key', isWide: true, cell: ({ key }) => <code>{key}</code> },
            { title: 'Actions', cell: ({ key }) => <CopyButton text={key} label="Copy the key" /> },
          ]}
        />
      )}
    </div>
  );
}
