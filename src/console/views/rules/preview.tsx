/** What a change would have done to the requests of the last 24 hours. */
import type { ResponseOf } from '../../api/service-api.ts';
import { Chip, DecisionChip, Time, VisitorText } from '../../components/values.tsx';
import { intoView } from '../../components/into-view.ts';
import { Table } from '../../components/table.tsx';
import { count, counted } from '../../format/numbers.ts';

/** Of each change. */
const EXAMPLES_MAX = 3;

export type Preview = ResponseOf<'/protect/access-rules/preview'>;

type Sample = Preview['samples'][number];
/** Policies can redirect, too. */
type Outcome = Sample['from'] | 'redirect';

export interface PreviewedChangesProps {
  preview: {
    changes: readonly { from: Outcome; to: Outcome; requests: number; addresses: number }[];
    samples: readonly (Omit<Sample, 'from' | 'to' | 'decidedBy'> & { from: Outcome; to: Outcome })[];
  };
}

export function PreviewResult({ preview }: { preview: Preview }) {
  const { examined, complete, changed, changedAddresses, untold } = preview;
  return (
    <div class="stack" role="status" ref={intoView}>
      <p>
        <b>{count(changed)}</b> of the last 24 hours’ {counted(examined, 'request')} would have been decided otherwise,
        from <b>{count(changedAddresses)}</b> {changedAddresses === 1 ? 'address' : 'addresses'}.
        {untold > 0 &&
          ` Of ${counted(untold, 'request')} nobody can tell, because a policy asks for what the log does not keep.`}
        {!complete && ' Not all requests could be examined: the real number is higher.'}
        <LeftOut preview={preview} />
      </p>
      <PreviewedChanges preview={preview} />
    </div>
  );
}

/** Which requests a preview does not have. */
export function LeftOut({ preview }: { preview: { allowedRequestsIncluded?: boolean; withoutInputs: number } }) {
  const { allowedRequestsIncluded = true, withoutInputs } = preview;
  return (
    <>
      {!allowedRequestsIncluded && ' Allowed requests are only counted on this instance, so they are not part of it.'}
      {withoutInputs > 0 &&
        ` The log does not say what ${counted(withoutInputs, 'request')} of older edges were decided from, so they are not part of it.`}
    </>
  );
}

/** Each way in which decisions would change, with its newest requests. */
export function PreviewedChanges({ preview: { changes, samples } }: PreviewedChangesProps) {
  const examples = changes.flatMap(({ from, to }) =>
    samples.filter((sample) => sample.from === from && sample.to === to).slice(0, EXAMPLES_MAX),
  );
  return (
    <>
      {changes.length > 0 && (
        <ul class="plain-list">
          {changes.map(({ from, to, requests, addresses }) => (
            <li key={`${from} ${to}`}>
              <OutcomeChip outcome={from} /> → <OutcomeChip outcome={to} /> {counted(requests, 'request')},{' '}
              {counted(addresses, 'address', 'addresses')}
            </li>
          ))}
        </ul>
      )}
      {examples.length > 0 && (
        <Table
          caption="Examples"
          rows={examples}
          keyOf={({ requestId }) => requestId}
          columns={[
            {
              title: 'Change',
              cell: ({ from, to }) => `${from} → ${to}`,
            },
            { title: 'Time', cell: ({ timestamp }) => <Time at={timestamp} isBrief /> },
            { title: 'Address', cell: ({ ip }) => <span class="mono">{ip ?? '–'}</span> },
            { title: 'Path', cell: ({ requestPath }) => <VisitorText text={requestPath} maxChars={40} /> },
            {
              title: 'User agent',
              isWide: true,
              cell: ({ userAgent }) => <VisitorText text={userAgent} maxChars={50} />,
            },
          ]}
        />
      )}
    </>
  );
}

function OutcomeChip({ outcome }: { outcome: Outcome }) {
  return outcome === 'redirect' ? <Chip tone="info">redirect</Chip> : <DecisionChip decision={outcome} />;
}
