/** The groups of access control rules, and the removal of one, which is a job of the service with a progress. */
import { useEffect, useState } from 'preact/hooks';
import { call, type Refusal, useCall } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { RefusalNotice, Section } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { VisitorText } from '../../components/values.tsx';
import { count, counted } from '../../format/numbers.ts';
import { addressOf, useParams } from '../../url/params.ts';
import type { ResponseOf, Schema } from '../../api/service-api.ts';

type Group = AccessControlPage['ruleGroupsAndCounts'][number];
const POLL_MS = 1000;
const NAME_MAX_CHARS = 80;

export interface RuleGroupsProps {
  groups: readonly Group[];
  /** The rules of a group are gone. */
  onGone: () => void;
  onFailure: (error: Refusal | null) => void;
}

export function RuleGroups({ groups, onGone, onFailure }: RuleGroupsProps) {
  const [params, change] = useParams();
  const [asked, setAsked] = useState<Group | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const remove = async ({ ruleGroupId, count: total }: Group): Promise<void> => {
    setIsBusy(true);
    const answer = await call('/access-control/group/delete', { ruleGroupId });
    setIsBusy(false);
    setAsked(null);
    onFailure(answer.ok ? null : answer.error);
    // In the address, so that the progress is still there when the page is opened anew.
    if (answer.ok) change({ job: answer.value.jobId, of: String(total), group: null, page: null });
  };
  return (
    <>
      {params['job'] !== undefined && (
        <Removal key={params['job']} jobId={params['job']} total={Number(params['of'])} onGone={onGone} />
      )}
      {groups.length > 0 && (
        <Section title="Groups">
          <Table
            caption="Groups of captcha rules"
            rows={groups}
            keyOf={({ ruleGroupId }) => ruleGroupId}
            columns={[
              {
                title: 'Group',
                isWide: true,
                cell: ({ ruleGroupId }) => (
                  <a href={addressOf('/console/access-control', { group: ruleGroupId })}>
                    <VisitorText text={ruleGroupId} maxChars={NAME_MAX_CHARS} />
                  </a>
                ),
              },
              { title: 'Rules', isNumber: true, cell: (group) => count(group.count) },
              {
                title: 'Actions',
                cell: (group) =>
                  may('deleteRuleGroup') && (
                    <Button
                      isSmall
                      kind="danger"
                      label={`Delete the group ${group.ruleGroupId}`}
                      onClick={() => setAsked(group)}
                    >
                      Delete group
                    </Button>
                  ),
              },
            ]}
          />
        </Section>
      )}
      {asked !== null && (
        <Confirm
          title="Delete this group?"
          verb={`Delete ${counted(asked.count, 'rule')}`}
          isBusy={isBusy}
          onClose={() => setAsked(null)}
          onConfirm={() => void remove(asked)}
        >
          <p>
            Every rule of the group <VisitorText text={asked.ruleGroupId} maxChars={NAME_MAX_CHARS} /> is deleted:{' '}
            {count(asked.count)} now. This cannot be undone.
          </p>
        </Confirm>
      )}
    </>
  );
}

/** How far the service is. It goes on when this page is closed. */
function Removal({ jobId, total, onGone }: { jobId: string; total: number; onGone: () => void }) {
  const [, change] = useParams();
  const [isFinished, setIsFinished] = useState(false);
  const { value: job, error } = useCall('/access-control/group/job', { jobId }, isFinished ? {} : { everyMs: POLL_MS });
  useEffect(() => {
    if (job?.status !== 'finished' || isFinished) return;
    setIsFinished(true);
    onGone();
  }, [job?.status]);
  if (error !== null) return <RefusalNotice error={error} />;
  // More rules can have come into the group since it was asked about.
  const all = Math.max(Number.isSafeInteger(total) ? total : 0, job?.deletedCount ?? 0, 1);
  const share = isFinished ? 100 : ((job?.deletedCount ?? 0) / all) * 100;
  return (
    <Section
      title={isFinished ? 'The group is deleted' : 'Deleting a group'}
      actions={
        isFinished && (
          <Button isSmall onClick={() => change({ job: null, of: null })}>
            Dismiss
          </Button>
        )
      }
    >
      <p role="status">
        <VisitorText text={job?.ruleGroupId ?? null} maxChars={NAME_MAX_CHARS} />:{' '}
        {counted(job?.deletedCount ?? 0, 'rule')} deleted{isFinished ? '.' : ` of ${count(all)}.`}
      </p>
      <span class="bar" aria-hidden="true">
        <span style={{ width: `${share}%` }} />
      </span>
    </Section>
  );
}

/** A page of access control rules as the service lists it. */
export type AccessControlPage = ResponseOf<'/access-control/get'>;
export type ListedRule = Schema<'AccessControlRule'>;
