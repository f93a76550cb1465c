/** Versions of the policies: who made each and why, what differs between two of them, and the way back. */
import { useState } from 'preact/hooks';
import { call, useCall } from '../../api/call.ts';
import type { ResponseOf } from '../../api/service-api.ts';
import { may } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Chip, Time, VisitorText } from '../../components/values.tsx';
import { CreateDialog } from '../../components/dialog.tsx';
import { Load, Page, Section } from '../../components/page.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { forms } from '../../settings/form-schemas.generated.ts';
import { OlderPages } from '../../components/numbered-pages.tsx';
import { Table } from '../../components/table.tsx';
import { count } from '../../format/numbers.ts';
import { siteOf, whenKnown } from '../../frame/instances.ts';
import { useParams } from '../../url/params.ts';
import { DifferenceList } from './differences.tsx';
import { ViewTabs } from '../../components/tabs.tsx';
import { readDifferences } from './difference-lines.ts';
import { saidWithUndo } from './said-with-undo.ts';

type History = ResponseOf<'/protect/policies/history'>;
type Version = History['versions'][number];

const VERSIONS_PER_PAGE = 100;

/** Before the first save. */
const BEGINNING: Version = {
  version: 0,
  at: '',
  by: '',
  byName: '',
  note: 'No policy, limit or origin',
  restores: null,
  policies: 0,
  limits: 0,
};

export default function PolicyHistory() {
  const [params, setParams] = useParams();
  const before = Number(params['before']);
  const site = siteOf(params);
  const body = {
    ...site,
    limit: VERSIONS_PER_PAGE,
    ...(Number.isSafeInteger(before) && before > 0 ? { before } : {}),
  };
  const loaded = useCall('/protect/policies/history', whenKnown(body));
  const { reload } = loaded;
  const [target, setTarget] = useState<number | null>(null);
  const last = loaded.value?.versions.at(-1);
  const mayChange = may('updateProtectSettings');
  const next =
    last !== undefined && last.version > 1 && loaded.value?.versions.length === VERSIONS_PER_PAGE
      ? { before: String(last.version) }
      : null;
  return (
    <Page
      title="Policies"
      lead="Every change of policies, limits or origins makes a version. Going back makes a new one, so nothing is lost."
    >
      <ViewTabs of="Policies" />
      <Load of={loaded} isEmpty={({ versions }) => versions.length === 0} emptyTitle="No policy was ever saved here">
        {(history) => (
          <>
            <Compare site={site} history={history} from={params['from']} to={params['to']} />
            <Table
              caption="Versions, newest first"
              rows={next === null ? [...history.versions, BEGINNING] : history.versions}
              keyOf={({ version }) => String(version)}
              columns={[
                {
                  title: 'Version',
                  isNumber: true,
                  width: '7rem',
                  cell: ({ version }) => (
                    <>
                      {version === history.version && <Chip tone="info">now</Chip>} {version}
                    </>
                  ),
                },
                { title: 'Time', width: '9rem', cell: ({ at }) => (at === '' ? '–' : <Time at={at} isBrief />) },
                { title: 'By', width: '14rem', cell: ({ byName }) => <VisitorText text={byName} maxChars={60} /> },
                { title: 'Why', isWide: true, isWrapped: true, width: '1fr', cell: (version) => <Why {...version} /> },
                { title: 'Policies', isNumber: true, width: '6rem', cell: ({ policies }) => count(policies) },
                { title: 'Limits', isNumber: true, width: '6rem', cell: ({ limits }) => count(limits) },
                {
                  title: 'Actions',
                  width: '12rem',
                  cell: ({ version }) => (
                    <span class="nowrap">
                      {version > 0 && (
                        <Button
                          isSmall
                          label={`Changes of version ${version}`}
                          onClick={() => setParams({ from: String(version - 1), to: String(version) })}
                        >
                          Changes
                        </Button>
                      )}{' '}
                      {version !== history.version && mayChange && (
                        <Button isSmall label={`Go back to version ${version}`} onClick={() => setTarget(version)}>
                          Go back
                        </Button>
                      )}
                    </span>
                  ),
                },
              ]}
            />
            <OlderPages place={['before']} next={next} />
            {target !== null && (
              <GoBack
                site={site}
                current={history.version}
                target={target}
                onClose={() => setTarget(null)}
                onDone={() => {
                  setTarget(null);
                  reload();
                }}
              />
            )}
          </>
        )}
      </Load>
    </Page>
  );
}

function Why({ note, restores }: Version) {
  return (
    <>
      {restores !== null && <Chip>back to version {restores}</Chip>} {note !== null && <VisitorText text={note} />}
    </>
  );
}

/** Two versions, chosen here or by a button of the list. They are in the address. */
function Compare({
  site,
  history: { version, versions },
  from = '',
  to = '',
}: {
  site: { siteKey?: string };
  history: History;
  from: string | undefined;
  to: string | undefined;
}) {
  const [, setParams] = useParams();
  const known = [...versions.map((one) => String(one.version)), '0'];
  const [old, now] = [from === '' ? String(Math.max(0, version - 1)) : from, to === '' ? String(version) : to];
  const options = (chosen: string) =>
    [...new Set([...known, chosen])].map((one) => [one, one === String(version) ? `${one}, now` : one] as const);
  const isAsked = from !== '';
  const loaded = useCall('/protect/policies/diff', isAsked ? { ...site, from: Number(old), to: Number(now) } : null);
  return (
    <Section
      title={isAsked ? `From version ${old} to ${now}` : 'Compare two versions'}
      actions={isAsked && <Button onClick={() => setParams({ from: null, to: null })}>Close</Button>}
    >
      <div class="filters">
        <SelectField
          label="From"
          value={old}
          options={options(old)}
          onChange={(one) => setParams({ from: one, to: now })}
        />
        <SelectField
          label="To"
          value={now}
          options={options(now)}
          onChange={(one) => setParams({ from: old, to: one })}
        />
      </div>
      {isAsked && (
        <Load of={loaded}>{({ differences }) => <DifferenceList differences={readDifferences(differences)} />}</Load>
      )}
    </Section>
  );
}

function GoBack({
  site,
  current,
  target,
  onClose,
  onDone,
}: {
  site: { siteKey?: string };
  current: number;
  target: number;
  onClose: () => void;
  onDone: () => void;
}) {
  const [note, setNote] = useState('');
  const loaded = useCall('/protect/policies/diff', { ...site, from: current, to: target });
  const reason = note.trim();
  return (
    <CreateDialog
      title={`Go back to version ${target}?`}
      verb="Go back"
      isWide
      isComplete={loaded.value !== null}
      send={() =>
        call('/protect/policies/rollback', {
          ...site,
          version: target,
          ifVersion: current,
          ...(reason === '' ? {} : { note: reason }),
        })
      }
      onMade={({ version }) => {
        onDone();
        saidWithUndo(`Version ${version} is what version ${target} was.`, site, version, onDone);
      }}
      onClose={onClose}
    >
      <p>
        Policies, limits and origins become what they were then. You can come back to version {current} the same way.
      </p>
      <Load of={loaded}>{({ differences }) => <DifferenceList differences={readDifferences(differences)} />}</Load>
      <TextField
        label="Why"
        hint="For the history. Optional."
        value={note}
        onInput={setNote}
        maxLength={forms.policySet.note.maxLength}
      />
    </CreateDialog>
  );
}
