/** The switch between monitoring and enforcing, with what it would have done in the last day. */
import { useState } from 'preact/hooks';
import { call, useAction, useCall } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { RefusalNotice, Section } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import { count, counted } from '../../format/numbers.ts';
import { loadInstances, type Instance } from '../../frame/instances.ts';
import { addressOf } from '../../url/params.ts';

export function Enforcement({ instance }: { instance: Instance }) {
  const [isAsking, setIsAsking] = useState(false);
  const { isBusy, error, run } = useAction();
  const { id, globalSiteKey, monitor, name } = instance;
  const day = useCall('/protect/traffic-summary', { siteKey: globalSiteKey, includeInternal: false });
  const set = async (next: boolean): Promise<void> => {
    const updated = await run(call('/protect/instances/update', { id, monitor: next }));
    setIsAsking(false);
    if (updated === null) return;
    await loadInstances();
    toast(next ? `${name} only records now.` : `${name} enforces now.`, { undo: () => void set(!next) });
  };
  const verdicts = addressOf('/console/verdicts', { site: globalSiteKey, decision: 'block' });
  return (
    <Section
      title={monitor ? 'Monitor mode: every request is forwarded' : 'Enforcing'}
      actions={
        may('updateProtectSettings') && (
          <Button kind={monitor ? 'primary' : 'plain'} onClick={() => setIsAsking(true)}>
            {monitor ? 'Start to enforce…' : 'Only monitor…'}
          </Button>
        )
      }
    >
      <RefusalNotice error={error} />
      <p class="soft">
        {day.value === null
          ? '\u00a0'
          : `In the last 24 hours the gate decided to challenge ${count(day.value.challenge)} and to block ${count(day.value.block)} of ${counted(day.value.total, 'request')}.`}{' '}
        <a href={verdicts}>See them</a>
      </p>
      {isAsking && (
        <Confirm
          title={monitor ? `Enforce on ${name}?` : `Stop enforcing on ${name}?`}
          verb={monitor ? 'Enforce' : 'Only monitor'}
          isDangerous={!monitor}
          isBusy={isBusy}
          onClose={() => setIsAsking(false)}
          onConfirm={() => void set(!monitor)}
        >
          {monitor ? (
            <p>
              Visitors are challenged and blocked from now on. Of the last 24 hours’ requests,{' '}
              {day.value === null
                ? 'some'
                : `${count(day.value.challenge)} would have been challenged and ${count(day.value.block)} blocked`}
              . Look at them first.
            </p>
          ) : (
            <p>Nobody is challenged or blocked any more. What the gate decides is still recorded.</p>
          )}
        </Confirm>
      )}
    </Section>
  );
}
