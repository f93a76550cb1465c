/** Issues a client JWT, and shows it once. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { CreateDialog, SecretDialog } from '../../components/create-dialog.tsx';
import { TextField } from '../../components/field.tsx';

export interface IssueClientJwtProps {
  instanceId: string;
  onClose: () => void;
  onIssued?: (clientJwt: string) => void;
}

export function IssueClientJwt({ instanceId, onClose, onIssued }: IssueClientJwtProps) {
  const [weeks, setWeeks] = useState('52');
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
      isComplete={weeks !== ''}
      send={() =>
        call('/protect/client-jwt/generate', { protectInstanceId: instanceId, expiresInWeeks: Number(weeks) })
      }
      onMade={({ clientJwt }) => {
        setIssued(clientJwt);
        onIssued?.(clientJwt);
      }}
      onClose={onClose}
    >
      <TextField
        label="Weeks until it expires"
        hint="0 to 5200; 0 means 100 years."
        type="number"
        value={weeks}
        onInput={setWeeks}
      />
    </CreateDialog>
  );
}
