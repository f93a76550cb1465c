/** The JWTs that edges authenticate with: issue, list, revoke. A new one is shown once. */
import { useState } from 'preact/hooks';
import { call, useAction, useCall } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Chip, Time } from '../../components/values.tsx';
import { Confirm, CreateDialog, SecretDialog } from '../../components/dialog.tsx';
import { Load, RefusalNotice } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import { toast } from '../../components/toast.tsx';
import type { Instance } from '../../frame/instances.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { rangeText } from '../../settings/setting-schema.ts';
import { useForm } from '../../settings/form.tsx';

export function ClientJwts({ instance: { id, active } }: { instance: Instance }) {
  const loaded = useCall('/protect/client-jwt/list', { protectInstanceId: id });
  const { reload } = loaded;
  const [isIssuing, setIsIssuing] = useState(false);
  const [revoked, setRevoked] = useState<string | null>(null);
  const { error, run } = useAction();
  const mayChange = active && may('updateProtectSettings');
  const revoke = async (jti: string): Promise<void> => {
    const answer = await run(call('/protect/client-jwt/revoke', { protectInstanceId: id, jti }));
    setRevoked(null);
    if (answer !== null) toast('The client JWT was revoked.');
    reload();
  };
  return (
    <div class="stack">
      <RefusalNotice error={error} />
      {mayChange && (
        <div class="actions">
          <Button kind="primary" onClick={() => setIsIssuing(true)}>
            Issue a client JWT
          </Button>
        </div>
      )}
      <Load
        of={loaded}
        isEmpty={({ clientJwts }) => clientJwts.length === 0}
        emptyTitle="No client JWT yet"
        emptyText="An edge needs one to read its rules and to send its verdicts."
      >
        {({ clientJwts }) => (
          <Table
            caption="Client JWTs"
            rows={clientJwts}
            keyOf={({ jti }) => jti}
            columns={[
              { title: 'Id', cell: ({ jti }) => <code>{jti}</code> },
              {
                title: 'State',
                cell: ({ status }) => <Chip tone={status === 'active' ? 'allow' : 'plain'}>{status}</Chip>,
              },
              { title: 'Issued', cell: ({ issuedAt }) => <Time at={issuedAt} isBrief /> },
              { title: 'Expires', cell: ({ expiresAt }) => <Time at={expiresAt} isBrief /> },
              {
                title: 'Actions',
                cell: ({ jti, status }) =>
                  mayChange &&
                  status === 'active' && (
                    <Button isSmall kind="danger" label={`Revoke ${jti}`} onClick={() => setRevoked(jti)}>
                      Revoke
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Load>
      {revoked !== null && (
        <Confirm
          title="Revoke this client JWT?"
          verb="Revoke"
          onClose={() => setRevoked(null)}
          onConfirm={() => void revoke(revoked)}
        >
          <p>
            An edge that uses it can no longer read rules or send verdicts, and goes on with the rules that it has. Give
            it another one first.
          </p>
        </Confirm>
      )}
      {isIssuing && (
        <IssueClientJwt
          instanceId={id}
          onClose={() => {
            setIsIssuing(false);
            reload();
          }}
        />
      )}
    </div>
  );
}

const WEEKS_HINT = `${rangeText(forms.clientJwt.expiresInWeeks)}; 0 means 100 years.`;

export interface IssueClientJwtProps {
  instanceId: string;
  onClose: () => void;
  onIssued?: (clientJwt: string) => void;
}

/** Issues a client JWT, and shows it once. */
export function IssueClientJwt({ instanceId, onClose, onIssued }: IssueClientJwtProps) {
  const form = useForm({ expiresInWeeks: '52' }, forms.clientJwt);
  const [issued, setIssued] = useState<string | null>(null);
  const title = 'Issue a client JWT';
  if (issued !== null) {
    return (
      <SecretDialog title={title} secret={issued} onClose={onClose}>
        <p>It is shown only now. Give it to the edge as the secret CLIENT_JWT.</p>
      </SecretDialog>
    );
  }
  return (
    <CreateDialog
      title={title}
      verb="Issue"
      isComplete={form.isComplete}
      send={() =>
        call('/protect/client-jwt/generate', {
          protectInstanceId: instanceId,
          expiresInWeeks: Number(form.draft.expiresInWeeks),
        })
      }
      onMade={({ clientJwt }) => {
        setIssued(clientJwt);
        onIssued?.(clientJwt);
      }}
      onClose={onClose}
    >
      {form.fields([{ name: 'expiresInWeeks', label: 'Weeks until it expires', hint: WEEKS_HINT }])}
    </CreateDialog>
  );
}
