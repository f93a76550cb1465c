/** The buttons of a limit. Each opens a dialog that asks first. */
import { Button } from '../../components/button.tsx';
import type { LimitAct } from './limit-dialog.tsx';
import type { Limit } from './limit-set.ts';

export interface LimitActionsProps {
  limit: Limit;
  onAct: (act: LimitAct) => void;
}

export function LimitActions({ limit: { name, mode }, onAct }: LimitActionsProps) {
  const [word, label] = mode === 'monitor' ? ['Enforce…', 'Enforce'] : ['Only monitor…', 'Only monitor'];
  return (
    <div class="actions">
      <Button isSmall label={`${label} ${name}`} onClick={() => onAct('mode')}>
        {word}
      </Button>
      <Button isSmall label={`Change ${name}`} onClick={() => onAct('change')}>
        Change…
      </Button>
      <Button isSmall kind="danger" label={`Remove ${name}`} onClick={() => onAct('remove')}>
        Remove…
      </Button>
    </div>
  );
}
