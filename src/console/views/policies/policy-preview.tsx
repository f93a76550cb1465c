/** What policies would have done to the requests of the last 24 hours. Nothing is changed. */
import { useState } from 'preact/hooks';
import { call, useAction } from '../../api/call.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import { Button } from '../../components/button.tsx';
import { intoView } from '../../components/into-view.ts';
import { Table } from '../../components/table.tsx';
import { count, counted } from '../../format/numbers.ts';
import { LeftOut, PreviewedChanges } from '../rules/preview.tsx';
import type { TextPolicy } from './policy.ts';

type Preview = ResponseOf<'/protect/policies/preview'>;

/**
 * The button of a preview, why it was refused, and what it has found, until the policies are others.
 * @param set without policies: the stored ones. `null`: something is still to be filled in.
 */
export function usePolicyPreview(siteKey: string, set: { policies?: TextPolicy[] } | null) {
  const [tried, setTried] = useState<{ set: string; preview: Preview } | null>(null);
  const { isBusy, error, run } = useAction();
  const asked = JSON.stringify(set);
  const look = async (): Promise<void> => {
    const preview = await run(call('/protect/policies/preview', { siteKey, ...set }));
    setTried(preview === null ? null : { set: asked, preview });
  };
  const button = (
    <Button isBusy={isBusy} isDisabled={set === null} onClick={() => void look()}>
      Preview
    </Button>
  );
  return { button, error, result: tried !== null && tried.set === asked && <Result preview={tried.preview} /> };
}

function Result({ preview }: { preview: Preview }) {
  const { examined, complete, changed, changedAddresses, untold, effects } = preview;
  return (
    <div class="stack" ref={intoView}>
      <p role="status">
        <b>{count(changed)}</b> of the last 24 hours’ {counted(examined, 'request')} would have been decided otherwise,
        from {counted(changedAddresses, 'address', 'addresses')}.
        {untold > 0 &&
          ` Of ${counted(untold, 'request')} nobody can tell, because a policy asks for what the log does not keep.`}
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
            { title: 'Requests it meets', isNumber: true, width: '11rem', cell: ({ requests }) => count(requests) },
            { title: 'Requests it may meet', isNumber: true, width: '11rem', cell: ({ unknown }) => count(unknown) },
          ]}
        />
      )}
    </div>
  );
}
