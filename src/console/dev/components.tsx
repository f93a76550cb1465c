/**
 * Every shared component on one page, in each of its states. It is a page of its own, which no build of the service
 * carries: `node scripts/console-components.ts` serves it.
 */
import { render } from 'preact';
import { LocationProvider } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import { failed } from '../../result.ts';
import { Button, ButtonLink, CopyButton } from '../components/button.tsx';
import { Chip, DecisionChip, Time, VisitorText, type Tone } from '../components/values.tsx';
import { Confirm, CreateDialog } from '../components/dialog.tsx';
import { EmptyState, Facts, Page, RefusalNotice, Section, Warning } from '../components/page.tsx';
import { CheckField, SelectField, TextField } from '../components/field.tsx';
import { Sparkline } from '../views/overview/top-list.tsx';
import { Table } from '../components/table.tsx';
import { Tabs } from '../components/tabs.tsx';
import { DecisionSeries } from '../components/time-series.tsx';
import { Toasts, toast } from '../components/toast.tsx';

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 0, 5);
const day = { since: START_MS, until: START_MS + 24 * HOUR_MS };
const tones: readonly Tone[] = ['allow', 'challenge', 'block', 'info', 'plain', 'warn'];
const hours = Array.from({ length: 24 }, (_, hour) => ({
  timestamp: START_MS + hour * HOUR_MS,
  allow: 40 + ((hour * 7) % 30),
  challenge: (hour * 3) % 11,
  block: hour > 8 && hour < 12 ? 25 : 1,
  total: 40 + ((hour * 7) % 30),
}));
const rows = Array.from({ length: 100_000 }, (_, at) => ({
  id: String(at + 1),
  value: `198.51.${at >> 8}.${at & 255}`,
}));
const refusal = {
  status: 400,
  key: 'API.INVALID_BODY',
  message: 'The rule cannot be added',
  details: [{ path: 'rule.conditions.0.value', message: 'is not an address' }],
  requestId: null,
};

function Components() {
  return (
    <LocationProvider>
      <Page title="Components" lead="What every view is made of. Use these before you write another one.">
        <Section title="Buttons: one primary action a view, danger for what cannot be undone">
          <div class="actions">
            <Button kind="primary">Primary</Button>
            <Button>Plain</Button>
            <Button kind="danger">Danger</Button>
            <Button kind="quiet">Quiet</Button>
            <Button isSmall>Small</Button>
            <Button isDisabled>Disabled</Button>
            <Button isBusy>Busy</Button>
            <ButtonLink href="#link">A link</ButtonLink>
            <CopyButton text="copied" />
          </div>
        </Section>
        <Fields />
        <Section title="Chips: the word says it, the colour repeats it">
          <div class="actions">
            {(['allow', 'challenge', 'block'] as const).map((decision) => (
              <DecisionChip key={decision} decision={decision} />
            ))}
            {tones.map((tone) => (
              <Chip key={tone} tone={tone}>
                tone {tone}
              </Chip>
            ))}
          </div>
        </Section>
        <Section title="Tabs: each has an address">
          <Tabs
            label="An example"
            tabs={['First', 'Second'].map((text, at) => ({ text, href: `#${text}`, isCurrent: at === 0 }))}
          />
        </Section>
        <Section title="Facts, times and text that visitors chose">
          <Facts
            facts={[
              ['Time', <Time at={START_MS} />],
              ['Hostile text', <VisitorText text={'<b>bold</b> \u202egnp.exe\u0007'} />],
              ['No value', <VisitorText text={null} />],
              ['Course', <Sparkline points={hours} {...day} />],
            ]}
          />
        </Section>
        <Section title="Table: 100,000 rows, of which those near the window are in the document">
          <Table
            caption="Addresses"
            rows={rows}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Number', isNumber: true, cell: ({ id }) => id },
              { title: 'Address', isWide: true, cell: ({ value }) => value },
              {
                title: 'Actions',
                cell: ({ id }) => (
                  <Button isSmall label={`Choose ${id}`} onClick={() => toast(`${id} was chosen.`)}>
                    Choose
                  </Button>
                ),
              },
            ]}
          />
        </Section>
        <Section title="Chart: arrow keys read it, dragging chooses a part">
          <DecisionSeries
            title="Requests by decision"
            window={{ ...day, range: null }}
            value={{ ...day, bucketSeconds: 3600, buckets: hours }}
          />
        </Section>
        <Section title="Notices: nothing there, a warning, a refusal">
          <EmptyState title="Nothing here yet">
            <p>Say what would be here, and how it gets there.</p>
          </EmptyState>
          <Warning>Rules get old.</Warning>
          <RefusalNotice error={refusal} onRetry={() => toast('Tried again.')} />
        </Section>
        <Messages />
      </Page>
      <Toasts />
    </LocationProvider>
  );
}

function Fields() {
  const [text, setText] = useState('');
  const [choice, setChoice] = useState<'one' | 'two'>('one');
  const [isChecked, setIsChecked] = useState(true);
  return (
    <Section title="Fields: each with a label, most with a hint">
      <div class="form">
        <TextField label="Text" hint="A sentence on what belongs here." value={text} onInput={setText} />
        <TextField label="With an error" error="must be an address" isMono value="999.1.1.1" onInput={setText} />
        <TextField label="Several lines" rows={3} value={text} onInput={setText} />
        <SelectField
          label="Choice"
          value={choice}
          options={[
            ['one', 'One'],
            ['two', 'Two'],
          ]}
          onChange={setChoice}
        />
        <CheckField label="Check" hint="On or off." isChecked={isChecked} onChange={setIsChecked} />
      </div>
    </Section>
  );
}

function Messages() {
  const [isAsking, setIsAsking] = useState(false);
  const [name, setName] = useState<string | null>(null);
  return (
    <Section title="Dialog and toast: say what will happen, then what did">
      <div class="actions">
        <Button onClick={() => setIsAsking(true)}>Open a dialog</Button>
        <Button onClick={() => setName('')}>Create something</Button>
        <Button onClick={() => toast('The rule was deleted.', { undo: () => toast('It is back.') })}>
          Show a toast
        </Button>
      </div>
      {isAsking && (
        <Confirm
          title="Delete 105 rules?"
          verb="Delete 105 rules"
          onClose={() => setIsAsking(false)}
          onConfirm={() => {
            setIsAsking(false);
            toast('105 rules were deleted.');
          }}
        >
          <p>Every rule of the group is deleted. This cannot be undone.</p>
        </Confirm>
      )}
      {name !== null && (
        <CreateDialog
          title="New thing, which is refused"
          isComplete={name !== ''}
          send={() => Promise.resolve(failed(refusal))}
          onMade={() => setName(null)}
          onClose={() => setName(null)}
        >
          <TextField label="Name" value={name} onInput={setName} />
        </CreateDialog>
      )}
    </Section>
  );
}

render(<Components />, document.body);
