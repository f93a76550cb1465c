/** One instance: whether it enforces, attack mode, its settings, its client JWTs, its log, and its end. */
import { useRoute } from 'preact-iso/router';
import { ok } from '../../../result.ts';
import { call } from '../../api/call.ts';
import type { RequestOf } from '../../api/service-api.ts';
import { may } from '../../api/session.ts';
import { Load } from '../../components/load.tsx';
import { EmptyState } from '../../components/notice.tsx';
import { Facts, Section } from '../../components/facts.tsx';
import { Page } from '../../components/page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { toast } from '../../components/toast.tsx';
import {
  type Instance as InstanceRecord,
  instanceAddress,
  instancesLoaded,
  loadInstances,
} from '../../frame/instances.ts';
import { SettingsForm } from '../../settings/settings-form.tsx';
import { instanceSettings } from '../../settings/settings-schemas.generated.ts';
import { useParams } from '../../url/params.ts';
import { AttackSection } from '../attack/attack-section.tsx';
import { ClientJwts } from './client-jwts.tsx';
import { Enforcement } from './enforcement.tsx';
import { DeleteInstance } from './delete-instance.tsx';
import { OriginKeys } from './origin-keys.tsx';
import { RebuildLog } from './rebuild-log.tsx';
import { modeOf } from './instances.tsx';

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
    <Page title={instance?.name ?? 'Instance'} actions={instance !== undefined && modeOf(instance)}>
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

function Settings({ instance }: { instance: InstanceRecord }) {
  const { id } = instance;
  return (
    <SettingsForm
      schemas={instanceSettings}
      initial={{ values: instance, version: instance.version }}
      isDisabled={!instance.active || !may('updateProtectSettings')}
      load={async () => {
        const answer = await call('/protect/instances', {});
        if (!answer.ok) return answer;
        const found = answer.value.find((one) => one.id === id) ?? instance;
        return ok({ values: found, version: found.version });
      }}
      save={async (changes, ifVersion) => {
        const body = { id, ifVersion, ...changes } as RequestOf<'/protect/instances/update'>;
        const answer = await call('/protect/instances/update', body);
        if (!answer.ok) return answer;
        void loadInstances();
        toast('Saved. The edges follow with their next poll, five seconds by default.');
        return ok({ values: answer.value, version: answer.value.version });
      }}
    />
  );
}
