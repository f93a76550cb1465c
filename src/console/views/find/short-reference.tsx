/** The requests that a short reference can be of. One leads to its verdict at once, several are listed. */
import { useLocation } from 'preact-iso/router';
import { useEffect } from 'preact/hooks';
import { useCall } from '../../api/call.ts';
import { EmptyState, RefusalNotice } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { VerdictTable } from '../verdicts/verdict-table.tsx';

const PATH = '/protect/verdicts/find';

export function ShortReference({ reference }: { reference: string }) {
  const { route } = useLocation();
  const body = { reference };
  const { value, error, reload } = useCall(PATH, body);
  const [one, ...others] = value?.verdicts ?? [];
  const only = one !== undefined && others.length === 0 && value?.isComplete === true ? one.request_id : null;
  useEffect(() => {
    if (only !== null) route(`/console/verdicts/${only}`, true);
  }, [only]);
  return (
    <Page
      title={`Requests with the reference ${reference}`}
      lead="A short reference is found in the log of the last 49 days. The time and the path tell which request is meant."
      calls={[{ method: 'POST', path: PATH, body }]}
    >
      {error !== null && <RefusalNotice error={error} onRetry={reload} />}
      {value !== null && one === undefined && (
        <EmptyState title="No request has this short reference">
          <p>Ask for the long one, which has 36 characters.</p>
        </EmptyState>
      )}
      {value !== null && one !== undefined && only === null && <VerdictTable verdicts={value.verdicts} />}
      {value?.isComplete === false && <p>There are more: that minute has too many requests to read all of them.</p>}
    </Page>
  );
}
