/** One site: its settings, its keys with code to paste, a widget to try, and its end. */
import { useRoute } from 'preact-iso/router';
import { ok, type Result } from '../../../result.ts';
import { call, useCall } from '../../api/call.ts';
import type { Refusal } from '../../api/send.ts';
import type { RequestOf } from '../../api/service-api.ts';
import { may } from '../../api/session.ts';
import { Chip } from '../../components/chip.tsx';
import { Load } from '../../components/load.tsx';
import { Page } from '../../components/page.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { toast } from '../../components/toast.tsx';
import { SettingsForm } from '../../settings/settings-form.tsx';
import type { Stored } from '../../settings/save-over.ts';
import { siteSettings } from '../../settings/settings-schemas.generated.ts';
import { useParams } from '../../url/params.ts';
import { Keys } from './keys.tsx';
import { Playground } from './playground.tsx';
import { SiteState } from './site-state.tsx';
import { type Site as SiteRecord, siteAddress } from './sites.tsx';

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

function Settings({ site: { siteKey, settings, version }, reload }: { site: SiteRecord; reload: () => void }) {
  return (
    <SettingsForm
      schemas={siteSettings}
      initial={{ values: settings, version }}
      detailPrefix="settings."
      isDisabled={!may('updateSite')}
      load={async () => stored(await call('/site/get', { siteKey }))}
      save={async (changes, ifVersion) => {
        const body = { siteKey, ifVersion, settings: changes } as RequestOf<'/sites/update'>;
        const answer = await call('/sites/update', body);
        if (answer.ok) {
          reload();
          toast('Saved. Every challenge follows within two seconds.');
        }
        return stored(answer);
      }}
    />
  );
}

function stored(answer: Result<SiteRecord, Refusal>): Result<Stored, Refusal> {
  return answer.ok ? ok({ values: answer.value.settings, version: answer.value.version }) : answer;
}
