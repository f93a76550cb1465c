/** The requests that a short reference can be of. One leads to its verdict at once, several are listed. */
import { useLocation } from 'preact-iso/router';
import { useEffect } from 'preact/hooks';
import { useCall } from '../../api/call.ts';
import { Load } from '../../components/load.tsx';
import { EmptyState } from '../../components/notice.tsx';
import { Page } from '../../components/page.tsx';
import { VerdictTable } from '../verdicts/verdict-table.tsx';

export function ShortReference({ reference }: { reference: string }) {
  const { route } = useLocation();
  const loaded = useCall('/protect/verdicts/find', { reference });
  const { value } = loaded;
  const [one, ...others] = value?.verdicts ?? [];
  const only = one !== undefined && others.length === 0 && value?.isComplete === true ? one.request_id : null;
  useEffect(() => {
    if (only !== null) route(`/console/verdicts/${only}`, true);
  }, [only]);
  return (
    <Page
      title={`Requests with the reference ${reference}`}
      lead="A short reference is found in the log of the last 49 days. The time and the path tell which request is meant."
    >
      <Load
        of={loaded}
        isEmpty={({ verdicts }) => verdicts.length === 0}
        empty={
          <EmptyState title="No request has this short reference">
            <p>Ask for the long one, which has 36 characters.</p>
          </EmptyState>
        }
      >
        {({ verdicts }) => only === null && <VerdictTable verdicts={verdicts} />}
      </Load>
      {value?.isComplete === false && <p>There are more: that minute has too many requests to read all of them.</p>}
    </Page>
  );
}
