/** Issues a client JWT, and shows it once. */
import { useState } from 'preact/hooks';
import { call } from '../../api/call.ts';
import { CreateDialog, SecretDialog } from '../../components/create-dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { rangeText } from '../../settings/setting-schema.ts';
import { useForm } from '../../settings/use-form.ts';

export interface IssueClientJwtProps {
  instanceId: string;
  onClose: () => void;
  onIssued?: (clientJwt: string) => void;
}

export function IssueClientJwt({ instanceId, onClose, onIssued }: IssueClientJwtProps) {
  const form = useForm(
    () => ({ expiresInWeeks: '52' }),
    () => forms.clientJwt,
  );
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
      <TextField
        {...form.text('expiresInWeeks')}
        label="Weeks until it expires"
        hint={`${rangeText(forms.clientJwt.expiresInWeeks)}; 0 means 100 years.`}
      />
    </CreateDialog>
  );
}
