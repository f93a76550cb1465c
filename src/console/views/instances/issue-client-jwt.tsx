/** Issues a client JWT, and shows it once. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import type { Refusal } from '../../api/send.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { RefusalNotice } from '../../components/notice.tsx';

export interface IssueClientJwtProps {
  instanceId: string;
  onClose: () => void;
  onIssued?: (clientJwt: string) => void;
}

export function IssueClientJwt({ instanceId, onClose, onIssued }: IssueClientJwtProps) {
  const [weeks, setWeeks] = useState('52');
  const [error, setError] = useState<Refusal | null>(null);
  const [issued, setIssued] = useState<string | null>(null);
  const issue = async (): Promise<void> => {
    const answer = await call('/protect/client-jwt/generate', {
      protectInstanceId: instanceId,
      expiresInWeeks: Number(weeks),
    });
    setError(answer.ok ? null : answer.error);
    if (!answer.ok) return;
    setIssued(answer.value.clientJwt);
    onIssued?.(answer.value.clientJwt);
  };
  return (
    <Dialog
      title="Issue a client JWT"
      onClose={onClose}
      actions={
        issued === null ? (
          <Button kind="primary" onClick={() => void issue()}>
            Issue
          </Button>
        ) : (
          <Button onClick={onClose}>Done</Button>
        )
      }
    >
      {error !== null && <RefusalNotice error={error} />}
      {issued === null ? (
        <TextField
          label="Weeks until it expires"
          hint="0 to 5200; 0 means 100 years."
          type="number"
          value={weeks}
          onInput={setWeeks}
        />
      ) : (
        <>
          <p>It is shown only now. Give it to the edge as the secret CLIENT_JWT.</p>
          <code class="secret">{issued}</code>
          <CopyButton text={issued} />
        </>
      )}
    </Dialog>
  );
}
