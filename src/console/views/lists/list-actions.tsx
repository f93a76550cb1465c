/** What can be done with a list: read it now, try it, enforce it, change it, replace its file, remove it. */
import { useState } from 'preact/hooks';
import { call, type Refusal } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { CreateDialog } from '../../components/dialog.tsx';
import { RefusalNotice } from '../../components/page.tsx';
import { toast } from '../../components/toast.tsx';
import { count, counted } from '../../format/numbers.ts';
import { EnforceList, ReplaceFile } from './list-dialogs.tsx';
import type { List } from './list-draft.ts';
import { ListForm } from './list-form.tsx';

export interface ListActionsProps {
  site: { siteKey?: string };
  list: List;
  onChange: () => void;
  onRemoved: () => void;
}

export function ListActions({ site, list, onChange, onRemoved }: ListActionsProps) {
  const [open, setOpen] = useState<'enforce' | 'monitor' | 'change' | 'replace' | 'accept' | 'remove' | null>(null);
  const [error, setError] = useState<Refusal | null>(null);
  const [isReading, setIsReading] = useState(false);
  const { name, url, mode, entries, state } = list;
  const close = () => setOpen(null);
  const done = (text: string): void => {
    close();
    setError(null);
    toast(text);
    onChange();
  };
  const read = async (): Promise<void> => {
    setIsReading(true);
    const answer = await call('/protect/lists/refresh', { ...site, name });
    setIsReading(false);
    setError(answer.ok ? null : answer.error);
    if (answer.ok && answer.value.isRead) toast(readingText(answer.value.list));
    onChange();
  };
  if (!may('updateProtectSettings')) return null;
  return (
    <>
      <RefusalNotice error={error} />
      <div class="actions">
        {mode === 'monitor' ? (
          <Button kind="primary" onClick={() => setOpen('enforce')}>
            Preview and enforce…
          </Button>
        ) : (
          <Button onClick={() => setOpen('monitor')}>Only monitor…</Button>
        )}
        {url === null ? (
          <Button onClick={() => setOpen('replace')}>Replace the file…</Button>
        ) : (
          <Button isBusy={isReading} onClick={() => void read()}>
            Read it now
          </Button>
        )}
        {url !== null && state === 'failing' && (
          <Button onClick={() => setOpen('accept')}>Read it and accept any change…</Button>
        )}
        <Button onClick={() => setOpen('change')}>Change…</Button>
        <Button kind="danger" onClick={() => setOpen('remove')}>
          Remove…
        </Button>
      </div>
      {open === 'enforce' && (
        <EnforceList
          site={site}
          list={list}
          onClose={close}
          onDone={() => done(`${name} is enforced. The edges follow with their next poll.`)}
        />
      )}
      {open === 'monitor' && (
        <CreateDialog
          title={`Only monitor ${name}?`}
          verb="Only monitor"
          send={() => call('/protect/lists/update', { ...site, name, mode: 'monitor' })}
          onMade={() => done(`${name} only records now.`)}
          onClose={close}
        >
          <p>Its {counted(entries, 'entry decides', 'entries decide')} nothing any more. They are still recorded.</p>
        </CreateDialog>
      )}
      {open === 'accept' && (
        <CreateDialog
          title={`Accept any change of ${name}?`}
          verb="Read and accept"
          send={() => call('/protect/lists/refresh', { ...site, name, acceptChange: true })}
          onMade={({ isRead, list: now }) => {
            if (isRead) return done(readingText(now));
            close();
            onChange();
          }}
          onClose={close}
        >
          <p>
            It is read now, and what it has takes the place of its {counted(entries, 'entry', 'entries')}, this once.
          </p>
        </CreateDialog>
      )}
      {open === 'change' && (
        <ListForm site={site} list={list} onClose={close} onSaved={() => done(`${name} was changed.`)} />
      )}
      {open === 'replace' && (
        <ReplaceFile site={site} list={list} onClose={close} onDone={(now) => done(readingText(now))} />
      )}
      {open === 'remove' && (
        <CreateDialog
          title={`Remove ${name}?`}
          verb="Remove"
          send={() => call('/protect/lists/delete', { ...site, name })}
          onMade={() => {
            toast(`${name} was removed, with its entries.`);
            onRemoved();
          }}
          onClose={close}
        >
          <p>
            Its {counted(entries, 'entry goes', 'entries go')} with it. Your rules and other lists stay. It cannot be
            brought back; add it again.
          </p>
        </CreateDialog>
      )}
    </>
  );
}

function readingText({ name, entries, lastChange }: List): string {
  const change =
    lastChange === null ? '' : ` Last change: ${count(lastChange.added)} added, ${count(lastChange.removed)} removed.`;
  return `${name} was read: ${counted(entries, 'entry', 'entries')}.${change}`;
}
