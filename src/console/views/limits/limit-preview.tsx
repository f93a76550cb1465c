/** Who would have been above a limit in the last 24 hours, by the requests of the log. Nothing is changed. */
import { useState } from 'preact/hooks';
import { call, useAction } from '../../api/call.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import { Button } from '../../components/button.tsx';
import { RefusalInWords } from '../../settings/form.tsx';
import { intoView } from '../../components/into-view.ts';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/values.tsx';
import { count, counted } from '../../format/numbers.ts';
import type { StoredSet } from '../policies/policy.ts';
import { type LimitChange, inForm, setWith } from './limit-set.ts';
import { stoppedSentence } from '../../../contract/management/stopped-sentence.ts';
import { LeftOut } from '../rules/preview.tsx';

type Preview = ResponseOf<'/protect/limits/preview'>;
type Visitor = Preview['effects'][number]['visitors'][number];

/**
 * The preview of a dialog: its button, and what it has found, which stands in the dialog's form.
 * @param change `null`: something is still to be filled in.
 */
export function useLimitPreview(site: { siteKey?: string }, set: StoredSet, change: LimitChange | null) {
  const [tried, setTried] = useState<{ change: string; preview: Preview } | null>(null);
  const { isBusy, error, run } = useAction();
  const asked = JSON.stringify(change);
  const look = async (): Promise<void> => {
    if (change === null) return;
    const preview = await run(call('/protect/limits/preview', { ...site, ...setWith(set, change) }));
    setTried(preview === null ? null : { change: asked, preview });
  };
  const button = (
    <Button isBusy={isBusy} isDisabled={change === null} onClick={() => void look()}>
      Preview
    </Button>
  );
  const result = (
    <>
      <RefusalInWords error={error && change && inForm(error, set, change)} />
      {tried !== null && change !== null && tried.change === asked && (
        <Result preview={tried.preview} name={change.name} />
      )}
    </>
  );
  return { button, result };
}

function Result({ preview, name }: { preview: Preview; name: string }) {
  const { examined, examinedSince, complete, effects } = preview;
  const effect = effects.find(({ limit }) => limit === name);
  if (effect === undefined) return null;
  const { requests, above, untold, stopped, addresses, unlogged, visitors } = effect;
  return (
    <div class="stack" role="status" ref={intoView}>
      <p>
        <b>{count(above)}</b> of {counted(requests, 'request')} that it is for would have been above it, from{' '}
        <b>{count(addresses)}</b> {addresses === 1 ? 'address' : 'addresses'}. {counted(examined, 'request')} of the log
        were examined
        {complete ? ', those of the last 24 hours.' : ', the newest since '}
        {!complete && (
          <>
            <Time at={examinedSince} />.
          </>
        )}
      </p>
      {stopped.length > 0 && <p>{stoppedSentence(stopped)}</p>}
      {untold > 0 && (
        <p>
          Of {count(untold)} more nobody can tell
          {unlogged.length === 0 ? '' : `, because the log does not have: ${unlogged.join(', ')}`}.
        </p>
      )}
      {(!preview.allowedRequestsIncluded || preview.withoutInputs > 0) && (
        <p>
          <LeftOut preview={preview} />
        </p>
      )}
      {visitors.length > 0 && <Visitors visitors={visitors} />}
    </div>
  );
}

function Visitors({ visitors }: { visitors: readonly Visitor[] }) {
  return (
    <Table
      caption="Addresses with the most requests above it"
      rows={visitors}
      keyOf={({ requestId }) => requestId}
      columns={[
        { title: 'Address', cell: ({ ip }) => <span class="mono">{ip ?? 'none'}</span> },
        { title: 'Country', cell: ({ country }) => country ?? '–' },
        { title: 'AS number', cell: ({ asn }) => asn ?? '–' },
        { title: 'Above it', isNumber: true, cell: ({ above }) => count(above) },
        { title: 'Not known', isNumber: true, cell: ({ untold }) => count(untold) },
        { title: 'Newest', cell: ({ timestamp }) => <Time at={timestamp} isBrief /> },
      ]}
    />
  );
}
