/** Who may sign in, and as what. */
import { useState } from 'preact/hooks';
import type { Result } from '../../../result.ts';
import { call, send, type Refusal, type Sent, useAction, useGet } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Chip, Time } from '../../components/values.tsx';
import { Confirm, CreateDialog } from '../../components/dialog.tsx';
import { SelectField } from '../../components/field.tsx';
import { Load, Page, RefusalNotice } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { toast } from '../../components/toast.tsx';
import type { Schema } from '../../api/service-api.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { useForm } from '../../settings/form.tsx';

type Role = Schema<'User'>['role'];
const roles: readonly (readonly [Role, string])[] = [
  ['viewer', 'viewer: sees traffic, rules and settings'],
  ['analyst', 'analyst: sees everything but keys and secrets'],
  ['admin', 'admin: changes everything'],
];

export default function Users() {
  const loaded = useGet('/users/get');
  const { reload } = loaded;
  const [isAdding, setIsAdding] = useState(false);
  const [removed, setRemoved] = useState<string | null>(null);
  const { error, run } = useAction();
  const act = async (sent: Sent, done: string): Promise<void> => {
    const answer = await run(send(sent) as Promise<Result<object, Refusal>>);
    if (answer !== null) toast(done);
    reload();
  };
  return (
    <Page
      title="Users"
      lead="Team members sign in here with their email. The owner cannot be changed."
      actions={
        may('createUser') && (
          <Button kind="primary" onClick={() => setIsAdding(true)}>
            Add a user
          </Button>
        )
      }
    >
      <RefusalNotice error={error} />
      <Load of={loaded}>
        {(users) => (
          <Table
            caption="Users"
            rows={users}
            keyOf={({ email }) => email}
            columns={[
              { title: 'Name', cell: ({ name }) => name },
              { title: 'Email', isWide: true, cell: ({ email }) => email },
              {
                title: 'Role',
                cell: ({ email, role, isOwner }) =>
                  isOwner ? (
                    <Chip tone="info">owner</Chip>
                  ) : may('updateUser') ? (
                    <SelectField
                      label={`Role of ${email}`}
                      isLabelHidden
                      value={role}
                      options={roles.map(([name]) => name)}
                      onChange={(userType) =>
                        void act(
                          { method: 'PUT', path: '/users/update', body: { email, userType } },
                          `${email} is ${userType} now.`,
                        )
                      }
                    />
                  ) : (
                    role
                  ),
              },
              {
                title: 'State',
                cell: ({ status }) => <Chip tone={status === 'active' ? 'allow' : 'plain'}>{status}</Chip>,
              },
              { title: 'Added', cell: ({ createdAt }) => <Time at={createdAt} isBrief /> },
              {
                title: 'Actions',
                cell: ({ email, isOwner }) =>
                  !isOwner &&
                  may('deleteUser') && (
                    <Button isSmall kind="danger" label={`Remove ${email}`} onClick={() => setRemoved(email)}>
                      Remove
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Load>
      {removed !== null && (
        <Confirm
          title={`Remove ${removed}?`}
          verb="Remove"
          onClose={() => setRemoved(null)}
          onConfirm={() => {
            void act({ method: 'POST', path: '/users/delete', body: { email: removed } }, `${removed} was removed.`);
            setRemoved(null);
          }}
        >
          <p>They are signed out at once. API keys stay: delete those that they know on their own page.</p>
        </Confirm>
      )}
      {isAdding && <AddUser onClose={() => setIsAdding(false)} onAdded={reload} />}
    </Page>
  );
}

function AddUser({ onClose, onAdded }: { onClose: () => void; onAdded: () => void }) {
  const form = useForm({ email: '', name: '', role: 'viewer' as Role }, forms.user);
  const { email } = form.draft;
  return (
    <CreateDialog
      title="Add a user"
      verb="Add"
      isComplete={form.isComplete}
      send={() => call('/users/create', form.draft)}
      onMade={() => {
        toast(`${email} was added.`);
        onClose();
        onAdded();
      }}
      onClose={onClose}
    >
      {form.fields([
        { name: 'email', label: 'Email', type: 'email' },
        { name: 'name', label: 'Name' },
        { name: 'role', label: 'Role', options: roles },
      ])}
      <p class="hint">
        Then make a sign-in link for them: <code>npm run gatehouse -- signin --email {email || 'EMAIL'}</code>
      </p>
    </CreateDialog>
  );
}
