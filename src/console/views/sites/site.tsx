/** One site: its settings, its keys with code to paste, a widget to try, and its end. */
import { useRoute } from 'preact-iso/router';
import { ok, type Result } from '../../../result.ts';
import { call, type Refusal, useAction, useCall } from '../../api/call.ts';
import type { RequestOf } from '../../api/service-api.ts';
import { may } from '../../api/session.ts';
import { Chip } from '../../components/values.tsx';
import { Load, Page, RefusalNotice, Section } from '../../components/page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { toast } from '../../components/toast.tsx';
import { SettingsForm } from '../../settings/settings-form.tsx';
import type { Stored } from '../../settings/save-over.ts';
import { siteGroups } from '../../settings/setting-words.ts';
import { siteSettings } from '../../settings/site-settings.generated.ts';
import { useParams } from '../../url/params.ts';
import { Keys } from './keys.tsx';
import { Playground } from './playground.tsx';
import { type ListedSite, siteAddress } from './sites.tsx';
import { useState } from 'preact/hooks';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { CheckField } from '../../components/field.tsx';
import { loadInstances } from '../../frame/instances.ts';

const tabs = [
  ['', 'Settings'],
  ['keys', 'Keys and code'],
  ['try', 'Try the widget'],
  ['state', 'Default, deactivate'],
] as const;

export default function Site() {
  const { params: route } = useRoute();
  const [params] = useParams();
  const loaded = useCall('/site/get', { siteKey: route['siteKey'] ?? '' });
  const { value, reload } = loaded;
  const tab = tabs.find(([name]) => name === params['tab'])?.[0] ?? '';
  return (
    <Page
      title={value?.name ?? 'Site'}
      actions={
        value !== null && <Chip tone={value.active ? 'allow' : 'plain'}>{value.active ? 'active' : 'inactive'}</Chip>
      }
    >
      <Load of={loaded}>
        {(site) => (
          <>
            <Tabs
              label="Parts of the site"
              tabs={tabs.map(([name, text]) => ({
                text,
                href: siteAddress(site) + (name === '' ? '' : `?tab=${name}`),
                isCurrent: name === tab,
              }))}
            />
            {tab === '' && <Settings key={site.siteKey} site={site} reload={reload} />}
            {tab === 'keys' && <Keys site={site} />}
            {tab === 'try' && <Playground site={site} />}
            {tab === 'state' && <SiteState site={site} reload={reload} />}
          </>
        )}
      </Load>
    </Page>
  );
}

function Settings({ site: { siteKey, settings, version }, reload }: { site: ListedSite; reload: () => void }) {
  return (
    <SettingsForm
      groups={siteGroups}
      schemas={siteSettings}
      initial={{ values: settings, version }}
      detailPrefix="settings."
      isDisabled={!may('updateSite')}
      load={async () => stored(await call('/site/get', { siteKey }))}
      save={async (changes, ifVersion) => {
        const body = { siteKey, ifVersion, settings: changes } as RequestOf<'/sites/update'>;
        return stored(await call('/sites/update', body));
      }}
      savedText="Saved. Every challenge follows within two seconds."
      onSaved={reload}
    />
  );
}

function stored(answer: Result<ListedSite, Refusal>): Result<Stored, Refusal> {
  return answer.ok ? ok({ values: answer.value.settings, version: answer.value.version }) : answer;
}

/** Which site is the default, and whether it is in use. */
export function SiteState({ site, reload }: { site: ListedSite; reload: () => void }) {
  const { error, run } = useAction();
  const [isAsking, setIsAsking] = useState(false);
  const [withInstance, setWithInstance] = useState(false);
  const { siteKey, name, active, isDefault } = site;
  const act = async (work: Promise<Result<object, Refusal>>, done: string): Promise<void> => {
    const answer = await run(work);
    setIsAsking(false);
    if (answer === null) return;
    toast(done);
    reload();
    void loadInstances();
  };
  return (
    <>
      <RefusalNotice error={error} />
      <Section title="Default">
        <p>{isDefault ? 'This is the default site of the account.' : 'Another site is the default of the account.'}</p>
        {!isDefault && active && may('updateSite') && (
          <Button
            onClick={() => void act(call('/sites/update', { siteKey, isDefault: true }), `${name} is the default.`)}
          >
            Make it the default
          </Button>
        )}
      </Section>
      <Section title={active ? 'Deactivate' : 'Inactive'}>
        <div class="stack">
          <p>
            {active
              ? 'Its tokens no longer verify, and its widget refuses. You can activate it again, with the same keys.'
              : 'Its tokens do not verify. Its name and keys are kept.'}
          </p>
          {active && may('deleteSite') && (
            <div class="actions">
              <Button kind="danger" onClick={() => setIsAsking(true)}>
                Deactivate {name}…
              </Button>
            </div>
          )}
          {!active && may('updateSite') && (
            <div class="actions">
              <Button onClick={() => void act(call('/sites/activate', { siteKey }), `${name} is active again.`)}>
                Activate
              </Button>
            </div>
          )}
        </div>
      </Section>
      {isAsking && (
        <Confirm
          title={`Deactivate ${name}?`}
          verb="Deactivate"
          onClose={() => setIsAsking(false)}
          onConfirm={() =>
            void act(
              call('/sites/delete', { siteKey, deactivateInstance: withInstance }),
              `${name} is inactive. Forms that show its widget cannot be sent.`,
            )
          }
        >
          <p>Forms that use this site stop working. An instance that uses it must go with it, or nobody could pass.</p>
          <CheckField
            label="Also delete the instance that uses it"
            hint="Its rules, verdicts and sessions are erased."
            isChecked={withInstance}
            onChange={setWithInstance}
          />
        </Confirm>
      )}
    </>
  );
}
