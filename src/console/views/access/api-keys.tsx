/** API keys: what each may do, and a form for a new one. */
import { useState } from 'preact/hooks';
import { call, useAction, useCall } from '../../api/call.ts';
import { may, session } from '../../api/session.ts';
import { Button, CopyButton } from '../../components/button.tsx';
import { Chip, Time } from '../../components/values.tsx';
import { Confirm, CreateDialog, SecretDialog } from '../../components/dialog.tsx';
import { CheckField } from '../../components/field.tsx';
import { Load, Page, RefusalNotice } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { toast } from '../../components/toast.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { useForm } from '../../settings/form.tsx';
import {
  featurePermissions,
  permissionPowers,
  permissionPresets,
  type Feature,
  type Permission,
  type PermissionMap,
} from '../../../contract/management/permissions.ts';
import { featureWords, permissionLabel, permissionsText } from './permission-words.ts';

const DAY_SECONDS = 86_400;
const lifetimes = [
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', '1 year'],
  ['3650', '10 years'],
] as const;

const isAsPowerfulAsAll = (permissions: PermissionMap): boolean =>
  Object.values(permissions).some((granted) =>
    granted.some((permission) => permissionPowers[permission]?.includes('as powerful as all')),
  );

export default function ApiKeys() {
  const loaded = useCall('/api-keys/get', {});
  const { reload } = loaded;
  const [isCreating, setIsCreating] = useState(false);
  const [deleted, setDeleted] = useState<{ apiKeyId: string; name: string } | null>(null);
  const { error, run } = useAction();
  const remove = async (apiKeyId: string, name: string): Promise<void> => {
    const answer = await run(call('/api-keys/delete', { apiKeyId }));
    setDeleted(null);
    if (answer !== null) toast(`${name} was deleted. It no longer works.`);
    reload();
  };
  return (
    <Page
      title="API keys"
      lead="For programs. A key may do exactly what its permissions name."
      actions={
        may('createApiKey') && (
          <Button kind="primary" onClick={() => setIsCreating(true)}>
            New API key
          </Button>
        )
      }
    >
      <RefusalNotice error={error} />
      <Load of={loaded} isEmpty={({ length }) => length === 0} emptyTitle="No API key yet">
        {(keys) => (
          <Table
            caption="API keys"
            rows={keys}
            keyOf={({ apiKeyId }) => apiKeyId}
            columns={[
              { title: 'Name', cell: ({ name }) => name },
              {
                title: 'Permissions',
                isWide: true,
                isWrapped: true,
                cell: ({ permissions }) => (
                  <>
                    {permissionsText(permissions)}{' '}
                    {isAsPowerfulAsAll(permissions) && <Chip tone="warn">as powerful as all</Chip>}
                  </>
                ),
              },
              {
                title: 'Expires',
                cell: ({ expiresAt }) => (
                  <>
                    <Time at={expiresAt} isBrief /> {expiresAt < Date.now() && <Chip>expired</Chip>}
                  </>
                ),
              },
              { title: 'Created', cell: ({ createdAt }) => <Time at={createdAt} isBrief /> },
              {
                title: 'Actions',
                cell: ({ apiKeyId, name, token }) => (
                  <div class="actions">
                    <CopyButton text={token} label="Copy the key" />
                    {may('deleteApiKey') && (
                      <Button
                        isSmall
                        kind="danger"
                        label={`Delete ${name}`}
                        onClick={() => setDeleted({ apiKeyId, name })}
                      >
                        Delete
                      </Button>
                    )}
                  </div>
                ),
              },
            ]}
          />
        )}
      </Load>
      {deleted !== null && (
        <Confirm
          title={`Delete ${deleted.name}?`}
          verb="Delete"
          onClose={() => setDeleted(null)}
          onConfirm={() => void remove(deleted.apiKeyId, deleted.name)}
        >
          <p>Programs that use this key are refused from their next call on. It cannot be brought back.</p>
        </Confirm>
      )}
      {isCreating && (
        <NewKey
          onClose={() => {
            setIsCreating(false);
            reload();
          }}
        />
      )}
    </Page>
  );
}

function NewKey({ onClose }: { onClose: () => void }) {
  const form = useForm({ name: '', days: '90' }, forms.apiKey);
  const { name, days } = form.draft;
  const [chosen, setChosen] = useState<ReadonlySet<Permission>>(new Set());
  const [token, setToken] = useState<string | null>(null);
  const state = session.value;
  // Nobody grants more than the account has.
  const features = (state.kind === 'signed-in' ? Object.keys(state.user.permissions) : []) as Feature[];
  const permissions = Object.fromEntries(
    features
      .map((feature) => [feature, featurePermissions[feature].filter((one) => chosen.has(one))] as const)
      .filter(([, granted]) => granted.length > 0),
  );
  if (token !== null) {
    return (
      <SecretDialog title="New API key" secret={token} onClose={onClose}>
        <p>Keep it like a password.</p>
      </SecretDialog>
    );
  }
  return (
    <CreateDialog
      title="New API key"
      isWide
      isComplete={form.isComplete && chosen.size > 0}
      send={() => call('/api-keys/create', { name, permissions, expiresIn: Number(days) * DAY_SECONDS })}
      onMade={(made) => setToken(made.token)}
      onClose={onClose}
    >
      {form.fields([
        { name: 'name', label: 'Name' },
        { name: 'days', label: 'Expires after', options: lifetimes },
      ])}
      <div class="actions">
        <span class="field-label">It may</span>
        {Object.entries(permissionPresets).map(([title, preset]) => (
          <Button key={title} onClick={() => setChosen(new Set(Object.values(preset).flat()))}>
            {title}
          </Button>
        ))}
      </div>
      <div class="columns">
        {features.map((feature) => (
          <fieldset key={feature}>
            <legend>{featureWords[feature]}</legend>
            {featurePermissions[feature].map((permission) => (
              <CheckField
                key={permission}
                label={permissionLabel(permission)}
                hint={permissionPowers[permission]}
                isChecked={chosen.has(permission)}
                onChange={(isChecked) => {
                  const next = new Set(chosen);
                  if (isChecked) next.add(permission);
                  else next.delete(permission);
                  setChosen(next);
                }}
              />
            ))}
          </fieldset>
        ))}
      </div>
    </CreateDialog>
  );
}
