/** The switch of attack mode, which always has an end, for the views that show it. */
import { useState } from 'preact/hooks';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { toast } from '../../components/toast.tsx';
import type { AttackDialog } from './attack-dialog.tsx';
import type { AttackMode } from './attack-words.tsx';

interface Asked {
  what: 'on' | 'off';
  Ask: typeof AttackDialog;
}

/**
 * Its buttons, and the dialog that they open, which stands where it stays while the state changes.
 * @param state `null`: not known yet.
 * @param isSmall it stands in a line of text.
 */
export function useAttackSwitch(siteKey: string, state: AttackMode | null, onChange: () => void, isSmall = false) {
  const [asked, setAsked] = useState<Asked | null>(null);
  if (state === null) return { buttons: null, dialog: null };
  const ask = (what: Asked['what']) => () =>
    void import('./attack-dialog.tsx').then(
      ({ AttackDialog: Ask }) => setAsked({ what, Ask }),
      () => toast('The switch could not be loaded. Try again.', { tone: 'failed' }),
    );
  const { active } = state;
  const buttons = may('updateProtectSettings') && (
    <>
      <Button isSmall={isSmall} kind={active || isSmall ? 'plain' : 'primary'} onClick={ask('on')}>
        {active ? 'Give it another end…' : 'Switch on…'}
      </Button>
      {active && (
        <Button isSmall={isSmall} onClick={ask('off')}>
          Switch off…
        </Button>
      )}
    </>
  );
  const close = (): void => setAsked(null);
  const done = (text: string): void => {
    close();
    toast(text);
    onChange();
  };
  const dialog = asked !== null && (
    <asked.Ask siteKey={siteKey} state={state} asking={asked.what} onClose={close} onDone={done} />
  );
  return { buttons, dialog };
}
