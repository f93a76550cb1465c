/** Passkeys: add, rename, remove. */
import { useState } from 'preact/hooks';
import { addOwnPasskey, removeOwnPasskey, renameOwnPasskey, type ShownPasskey } from '../../api/sign-in.ts';
import { Button } from '../../components/button.tsx';
import { Confirm, Dialog } from '../../components/dialog.tsx';
import { EmptyState, Section } from '../../components/page.tsx';
import { TextField } from '../../components/field.tsx';
import { Table } from '../../components/table.tsx';
import { Time, VisitorText } from '../../components/values.tsx';
import type { Result } from '../../../result.ts';
import type { Refusal } from '../../api/call.ts';

/** Does something, says so, and reads everything again. A refusal stays on the page. */
export type Act = (change: () => Promise<Result<unknown, Refusal>>, done: string) => Promise<boolean>;

const NAME_MAX_CHARS = 64;

type Open = { kind: 'add' } | { kind: 'rename' | 'remove'; passkey: ShownPasskey } | null;

export function Passkeys({ passkeys, act }: { passkeys: readonly ShownPasskey[]; act: Act }) {
  const [open, setOpen] = useState<Open>(null);
  const close = (): void => setOpen(null);
  return (
    <Section
      title="Passkeys"
      actions={
        <Button kind="primary" onClick={() => setOpen({ kind: 'add' })}>
          Add a passkey
        </Button>
      }
    >
      {passkeys.length === 0 ? (
        <EmptyState title="You have no passkey">
          <p>Without one you need a new link from the operator for every sign-in.</p>
        </EmptyState>
      ) : (
        <Table
          caption="Passkeys"
          rows={passkeys}
          keyOf={({ credentialId }) => credentialId}
          columns={[
            { title: 'Name', isWide: true, cell: ({ name }) => <VisitorText text={name} /> },
            { title: 'Added', cell: ({ createdAt }) => <Time at={createdAt} /> },
            { title: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
            {
              title: 'Actions',
              cell: (passkey) => (
                <span class="row">
                  <Button isSmall label={`Rename ${passkey.name}`} onClick={() => setOpen({ kind: 'rename', passkey })}>
                    Rename
                  </Button>
                  <Button
                    isSmall
                    kind="danger"
                    label={`Remove ${passkey.name}`}
                    onClick={() => setOpen({ kind: 'remove', passkey })}
                  >
                    Remove
                  </Button>
                </span>
              ),
            },
          ]}
        />
      )}
      {passkeys.length === 1 && (
        <p class="hint">Add a second one on another device. Then you get in when you lose the first.</p>
      )}
      {open?.kind === 'add' && (
        <NameDialog
          title="Add a passkey"
          verb="Add"
          name=""
          hint="So that you recognise it later. Your browser asks for the passkey next."
          onClose={close}
          onName={(name) => act(() => addOwnPasskey(name), `The passkey ${name} was added.`)}
        />
      )}
      {open?.kind === 'rename' && (
        <NameDialog
          title="Rename the passkey"
          verb="Rename"
          name={open.passkey.name}
          onClose={close}
          onName={(name) =>
            act(() => renameOwnPasskey(open.passkey.credentialId, name), `The passkey is called ${name} now.`)
          }
        />
      )}
      {open?.kind === 'remove' && (
        <Confirm
          title={`Remove ${open.passkey.name}?`}
          verb="Remove"
          onClose={close}
          onConfirm={() => {
            const { credentialId, name } = open.passkey;
            close();
            void act(() => removeOwnPasskey(credentialId), `The passkey ${name} was removed.`);
          }}
        >
          <p>It no longer signs you in. Your device keeps its half: delete it in the settings of the device too.</p>
        </Confirm>
      )}
    </Section>
  );
}

interface NameDialogProps {
  title: string;
  verb: string;
  name: string;
  hint?: string;
  onClose: () => void;
  onName: (name: string) => Promise<boolean>;
}

function NameDialog({ title, verb, name: former, hint, onClose, onName }: NameDialogProps) {
  const [name, setName] = useState(former);
  const [isBusy, setIsBusy] = useState(false);
  const submit = async (): Promise<void> => {
    setIsBusy(true);
    await onName(name.trim());
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== '') void submit();
        }}
      >
        <TextField
          label="Name"
          value={name}
          onInput={setName}
          maxLength={NAME_MAX_CHARS}
          placeholder="work laptop"
          isRequired
          {...(hint === undefined ? {} : { hint })}
        />
        <div class="actions">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" isBusy={isBusy} isDisabled={name.trim() === ''}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
