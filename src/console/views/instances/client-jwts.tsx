/** The JWTs that edges authenticate with: issue, list, revoke. A new one is shown once. */
import { useState } from 'preact/hooks';
import { call, useCall } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import type { Refusal } from '../../api/send.ts';
import { Button } from '../../components/button.tsx';
import { Chip } from '../../components/chip.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { EmptyState, RefusalNotice } from '../../components/notice.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import type { Instance } from '../../frame/instances.ts';
import { IssueClientJwt } from './issue-client-jwt.tsx';

export function ClientJwts({ instance: { id, active } }: { instance: Instance }) {
  const { value, error, reload } = useCall('/protect/client-jwt/list', { protectInstanceId: id });
  const [isIssuing, setIsIssuing] = useState(false);
  const [revoked, setRevoked] = useState<string | null>(null);
  const [failure, setFailure] = useState<Refusal | null>(null);
  const mayChange = active && may('updateProtectSettings');
  const revoke = async (jti: string): Promise<void> => {
    const answer = await call('/protect/client-jwt/revoke', { protectInstanceId: id, jti });
    setRevoked(null);
    setFailure(answer.ok ? null : answer.error);
    if (answer.ok) toast('The client JWT was revoked.');
    reload();
  };
  return (
    <div class="stack">
      {error !== null && <RefusalNotice error={error} onRetry={reload} />}
      {failure !== null && <RefusalNotice error={failure} />}
      {mayChange && (
        <div class="actions">
          <Button kind="primary" onClick={() => setIsIssuing(true)}>
            Issue a client JWT
          </Button>
        </div>
      )}
      {value?.clientJwts.length === 0 && (
        <EmptyState title="No client JWT yet">
          <p>An edge needs one to read its rules and to send its verdicts.</p>
        </EmptyState>
      )}
      {value !== null && value.clientJwts.length > 0 && (
        <Table
          caption="Client JWTs"
          rows={value.clientJwts}
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
