/** Single captchas, found by any of their facts, page by page; and one of them with everything that is known. */
import { useCall } from '../../api/call.ts';
import { EmptyState, Load, Page, Warning } from '../../components/page.tsx';
import { OlderPages } from '../../components/numbered-pages.tsx';
import { RangePicker } from '../../components/range-picker.tsx';
import { counted } from '../../format/numbers.ts';
import { useParams, useWindow } from '../../url/params.ts';
import { FilterForm } from '../../components/filter-form.tsx';
import { ViewTabs } from '../../components/tabs.tsx';
import { siteOptions, useSites } from '../captchas/sites.ts';
import { RecordDialog, RecordTable } from './records.tsx';
import { searchBody, searchFields } from './search-form.ts';

const PLACE = ['lastId', 'lastTimestamp'];

export default function CaptchaSearch() {
  const [params, change] = useParams();
  const window = useWindow();
  const sites = useSites();
  const loaded = useCall('/audit/searchcaptcharecords', searchBody(params, window));
  const names = new Map((sites.value ?? []).map(({ siteKey, name }) => [siteKey, name]));
  const opened = loaded.value?.records.find(({ id }) => id === params['record']);
  return (
    <Page
      title="Captchas"
      lead="Find single captchas. The search reaches back 30 days."
      actions={<RangePicker window={window} />}
    >
      <ViewTabs of="Captchas" />
      <FilterForm
        verb="Search"
        fields={[
          { param: 'captchaSite', label: 'Site', none: 'every site', options: siteOptions(sites.value) },
          ...searchFields.map((field) => ({ maxLength: 1024, ...field })),
        ]}
        place={[...PLACE, 'record']}
      />
      <Load of={loaded}>
        {(value) => (
          <>
            <p class="soft" role="status">
              {value.totalIsExact === false ? 'At least ' : ''}
              {counted(value.total, 'captcha')}
            </p>
            {value.totalIsExact === false && (
              <Warning>
                The search stopped at the most records that it reads in one call. “Older” goes on from there.
              </Warning>
            )}
            {value.records.length === 0 ? (
              <EmptyState title="No captcha matches">
                <p>Choose a longer time or clear a field. All fields must match.</p>
              </EmptyState>
            ) : (
              <RecordTable records={value.records} names={names} params={params} />
            )}
            <OlderPages
              place={PLACE}
              next={
                value.hasMore && value.lastId !== undefined
                  ? { lastId: value.lastId, lastTimestamp: String(value.lastTimestamp ?? '') }
                  : null
              }
            />
          </>
        )}
      </Load>
      {opened !== undefined && (
        <RecordDialog
          record={opened}
          site={names.get(opened.siteKey) ?? null}
          onClose={() => change({ record: null }, true)}
        />
      )}
    </Page>
  );
}
