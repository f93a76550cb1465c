/** What is stored, what somebody changes of it, and the bar that saves the changes. */
import { useState } from 'preact/hooks';
import { ok } from '../../result.ts';
import { call, type Refusal } from '../api/call.ts';
import type { RequestOf } from '../api/service-api.ts';
import { Button } from '../components/button.tsx';
import { sentenceOf } from '../components/page.tsx';
import { toast } from '../components/toast.tsx';
import type { Instance } from '../frame/instances.ts';
import { changedMembers, saveOver, type SavePorts, type SettingValues, type Stored } from './save-over.ts';

export interface SavedProps extends SavePorts {
  /** What is stored, as it was loaded. */
  initial: Stored;
  /** What the notice says after saving. */
  savedText: string;
  /** After saving, and after that was undone. */
  onSaved: () => void;
  /** After saving and after discarding. */
  onFresh?: () => void;
}

/** @param names of the members that can be changed, in the order in which changes are named. */
export function useSaved(names: readonly string[], { initial, savedText, onSaved, onFresh, ...ports }: SavedProps) {
  const [stored, setStored] = useState(initial);
  const [draft, setDraft] = useState<SettingValues>({});
  const [error, setError] = useState<Refusal | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  const current = { ...stored.values, ...draft };
  const changes = changedMembers(names, stored.values, current);
  const discard = (): void => {
    setDraft({});
    onFresh?.();
  };
  const undo = async (saved: Stored, former: SettingValues): Promise<void> => {
    const outcome = await saveOver(saved, former, ports);
    setStored(outcome.stored);
    onFresh?.();
    if (outcome.error === null) toast('Undone: the settings are as they were.');
    else if (outcome.error.status !== 409) toast(sentenceOf(outcome.error), { tone: 'failed' });
    else toast('Somebody else has changed these settings meanwhile, so nothing was undone.', { tone: 'failed' });
    onSaved();
  };
  return {
    stored: stored.values,
    /** What is stored, with the changes. */
    current,
    changes,
    change: (values: SettingValues) => setDraft((former) => ({ ...former, ...values })),
    discard,
    save: async (): Promise<void> => {
      setIsBusy(true);
      const outcome = await saveOver(stored, changes, ports);
      setIsBusy(false);
      setStored(outcome.stored);
      setError(outcome.error);
      if (outcome.error !== null) return;
      discard();
      onSaved();
      const former = Object.fromEntries(Object.keys(changes).map((name) => [name, stored.values[name]]));
      // A setting that was left out cannot be left out again.
      const canUndo = !Object.values(former).includes(undefined);
      toast(savedText, canUndo ? { undo: () => void undo(outcome.stored, former) } : {});
    },
    error,
    isBusy,
  };
}

export interface SaveBarProps {
  saved: ReturnType<typeof useSaved>;
  /** What is changed, in words. */
  text: string;
  isReadable?: boolean;
}

/** Inside of the form: its first button submits it. */
export function SaveBar({ saved: { changes, discard, isBusy }, text, isReadable = true }: SaveBarProps) {
  const isChanged = Object.keys(changes).length > 0;
  return (
    <div class="save-bar">
      <span role="status">{text}</span>
      <Button isDisabled={!isChanged} onClick={discard}>
        Discard
      </Button>
      <Button type="submit" kind="primary" isBusy={isBusy} isDisabled={!isChanged || !isReadable}>
        Save
      </Button>
    </div>
  );
}

const storedOf = (values: Instance): Stored => ({ values, version: values.version });

/** An instance as something stored: its settings, and its bot policy among them. */
export function instanceAsStored(instance: Instance): SavePorts & { initial: Stored } {
  const { id } = instance;
  return {
    initial: storedOf(instance),
    load: async () => {
      const answer = await call('/protect/instances', {});
      return answer.ok ? ok(storedOf(answer.value.find((one) => one.id === id) ?? instance)) : answer;
    },
    save: async (changes, ifVersion) => {
      const body = { id, ifVersion, ...changes } as RequestOf<'/protect/instances/update'>;
      const answer = await call('/protect/instances/update', body);
      return answer.ok ? ok(storedOf(answer.value)) : answer;
    },
  };
}
