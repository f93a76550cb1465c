/** The end of an instance, with what goes with it. */
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import { call, useAction } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { RefusalNotice } from '../../components/notice.tsx';
import { toast } from '../../components/toast.tsx';
import { type Instance, loadInstances } from '../../frame/instances.ts';

export function DeleteInstance({ instance: { id, name, active } }: { instance: Instance }) {
  const { route } = useLocation();
  const [isAsking, setIsAsking] = useState(false);
  const [typed, setTyped] = useState('');
  const { error, run } = useAction();
  if (!active) return <p>This instance is deleted.</p>;
  const remove = async (): Promise<void> => {
    const done = await run(call('/protect/instances/delete', { id }));
    setIsAsking(false);
    if (done === null) return;
    toast(`${name} was deleted.`);
    await loadInstances();
    route('/console/instances');
  };
  return (
    <div class="stack">
      <RefusalNotice error={error} />
      <p>
        Its client JWTs stop working at once. Its access rules, verdicts and sessions are erased within a minute. This
        cannot be undone.
      </p>
      <div class="actions">
        <Button kind="danger" isDisabled={!may('updateProtectSettings')} onClick={() => setIsAsking(true)}>
          Delete {name}…
        </Button>
      </div>
      {isAsking && (
        <Confirm
          title={`Delete ${name}?`}
          verb="Delete"
          isConfirmed={typed === name}
          onClose={() => setIsAsking(false)}
          onConfirm={() => void remove()}
        >
          <p>Rules, verdicts and sessions of this instance are erased. Type its name to go on.</p>
          <TextField label="Name of the instance" value={typed} onInput={setTyped} />
        </Confirm>
      )}
    </div>
  );
}
