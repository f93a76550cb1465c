/** The keys that an origin checks the gate's signature with. They are secrets: shown only when asked for. */
import { useState } from 'preact/hooks';
import { call, useAction } from '../../api/call.ts';
import type { Schema } from '../../api/service-api.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { TextField } from '../../components/field.tsx';
import { RefusalNotice } from '../../components/notice.tsx';
import { Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import type { Instance } from '../../frame/instances.ts';
import { forms } from '../../settings/form-schemas.generated.ts';
import { useForm } from '../../settings/use-form.ts';

export function OriginKeys({ instance: { id } }: { instance: Instance }) {
  const form = useForm(
    () => ({ weeks: '8' }),
    () => forms.originKeys,
  );
  const [keys, setKeys] = useState<readonly Schema<'OriginKey'>[] | null>(null);
  const { error, run } = useAction();
  const show = async (): Promise<void> => {
    const answer = await run(call('/protect/origin-keys', { protectInstanceId: id, weeks: Number(form.draft.weeks) }));
    if (answer !== null) setKeys(answer.keys);
  };
  return (
    <div class="stack">
      <p>
        With them, your origin can tell requests that came through the gate from others, by the header
        X-Protect-Signature. Each counts for a week. Keep them like passwords.
      </p>
      <RefusalNotice error={error} />
      <div class="row">
        <TextField {...form.text('weeks')} label="Weeks ahead" />
        <Button isDisabled={!form.isComplete} onClick={() => void show()}>
          Show the keys
        </Button>
      </div>
      {keys !== null && (
        <Table
          caption="Origin keys"
          rows={keys}
          keyOf={({ kid }) => kid}
          columns={[
            { title: 'Id', cell: ({ kid }) => <code>{kid}</code> },
            { title: 'From', cell: ({ validFrom }) => <Time at={validFrom} /> },
            { title: 'Until', cell: ({ validUntil }) => <Time at={validUntil} /> },
            { title: 'Key', isWide: true, cell: ({ key }) => <code>{key}</code> },
            { title: 'Actions', cell: ({ key }) => <CopyButton text={key} label="Copy the key" /> },
          ]}
        />
      )}
    </div>
  );
}
