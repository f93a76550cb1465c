/** What the requests of the last day would have got under the draft. */
import { useState } from 'preact/hooks';
import { call, useAction } from '../../api/call.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import { Button } from '../../components/button.tsx';
import { Section } from '../../components/facts.tsx';
import { RefusalNotice } from '../../components/notice.tsx';
import { Table } from '../../components/table.tsx';
import { count, counted } from '../../format/numbers.ts';
import { LeftOut, PreviewedChanges } from '../rules/preview.tsx';
import { policiesOf } from './draft.ts';
import type { PolicyView } from './policy-page.tsx';

type Preview = ResponseOf<'/protect/policies/preview'>;

export function PreviewLog({ siteKey, state: { draft, changes } }: PolicyView) {
  const [preview, setPreview] = useState<Preview | null>(null);
  const { isBusy, error, run } = useAction();
  const isDraft = changes.length > 0;
  const look = async (): Promise<void> => {
    const policies = isDraft ? { policies: policiesOf(draft.entries) } : {};
    setPreview(await run(call('/protect/policies/preview', { siteKey, ...policies })));
  };
  return (
    <Section
      title={isDraft ? 'Preview the draft on the log' : 'Preview on the log'}
      actions={
        <Button isBusy={isBusy} onClick={() => void look()}>
          Preview
        </Button>
      }
    >
      <p class="hint">
        The newest requests of the last 24 hours, as they would be decided. Nothing changes. The log keeps no headers,
        cookies and queries: where the decision depends on one, it cannot be told.
      </p>
      <RefusalNotice error={error} />
      {preview !== null && <Result preview={preview} />}
    </Section>
  );
}

function Result({ preview }: { preview: Preview }) {
  const { examined, complete, changed, changedAddresses, untold, effects } = preview;
  return (
    <div class="stack">
      <p role="status">
        <b>{count(changed)}</b> of {counted(examined, 'request')} would have been decided otherwise, from{' '}
        {counted(changedAddresses, 'address', 'addresses')}.{untold > 0 && ` Of ${count(untold)}, it cannot be told.`}
        {!complete && ' Not all requests could be examined: the real number is higher.'}
        <LeftOut preview={preview} />
      </p>
      <PreviewedChanges preview={preview} />
      {effects.length > 0 && (
        <Table
          caption="Policies that would have fired"
          rows={effects}
          keyOf={({ policy }) => policy}
          columns={[
            { title: 'Policy', isWide: true, width: '1fr', cell: ({ policy }) => policy },
            { title: 'Requests', isNumber: true, width: '8rem', cell: ({ requests }) => count(requests) },
            { title: 'Perhaps', isNumber: true, width: '8rem', cell: ({ unknown }) => count(unknown) },
          ]}
        />
      )}
    </div>
  );
}
