/** Which site is the default, and whether it is in use. */
import { useState } from 'preact/hooks';
import { call, useAction } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import type { Refusal } from '../../api/send.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { Section } from '../../components/facts.tsx';
import { CheckField } from '../../components/field.tsx';
import { RefusalNotice } from '../../components/notice.tsx';
import { toast } from '../../components/toast.tsx';
import { loadInstances } from '../../frame/instances.ts';
import type { Result } from '../../../result.ts';
import type { Site } from './sites.tsx';

export function SiteState({ site, reload }: { site: Site; reload: () => void }) {
  const { error, run } = useAction();
  const [isAsking, setIsAsking] = useState(false);
  const [withInstance, setWithInstance] = useState(false);
  const { siteKey, name, active, isDefault } = site;
  const act = async (work: Promise<Result<object, Refusal>>, done: string): Promise<void> => {
    const answer = await run(work);
    setIsAsking(false);
    if (answer === null) return;
    toast(done);
    reload();
    void loadInstances();
  };
  return (
    <>
      <RefusalNotice error={error} />
      <Section title="Default">
        <p>{isDefault ? 'This is the default site of the account.' : 'Another site is the default of the account.'}</p>
        {!isDefault && active && may('updateSite') && (
          <Button
            onClick={() => void act(call('/sites/update', { siteKey, isDefault: true }), `${name} is the default.`)}
          >
            Make it the default
          </Button>
        )}
      </Section>
      <Section title={active ? 'Deactivate' : 'Inactive'}>
        <div class="stack">
          <p>
            {active
              ? 'Its tokens no longer verify, and its widget refuses. You can activate it again, with the same keys.'
              : 'Its tokens do not verify. Its name and keys are kept.'}
          </p>
          {active && may('deleteSite') && (
            <div class="actions">
              <Button kind="danger" onClick={() => setIsAsking(true)}>
                Deactivate {name}…
              </Button>
            </div>
          )}
          {!active && may('updateSite') && (
            <div class="actions">
              <Button onClick={() => void act(call('/sites/activate', { siteKey }), `${name} is active again.`)}>
                Activate
              </Button>
            </div>
          )}
        </div>
      </Section>
      {isAsking && (
        <Confirm
          title={`Deactivate ${name}?`}
          verb="Deactivate"
          onClose={() => setIsAsking(false)}
          onConfirm={() =>
            void act(
              call('/sites/delete', { siteKey, deactivateInstance: withInstance }),
              `${name} is inactive. Forms that show its widget cannot be sent.`,
            )
          }
        >
          <p>Forms that use this site stop working. An instance that uses it must go with it, or nobody could pass.</p>
          <CheckField
            label="Also delete the instance that uses it"
            hint="Its rules, verdicts and sessions are erased."
            isChecked={withInstance}
            onChange={setWithInstance}
          />
        </Confirm>
      )}
    </>
  );
}
