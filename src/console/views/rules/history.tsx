/** Versions of the rules: who changed how many, and the way back to each. */
import { useState } from 'preact/hooks';
import { call, useAction, useCall } from '../../api/call.ts';
import { may } from '../../api/session.ts';
import type { ResponseOf, Schema } from '../../api/service-api.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Chip, Time, VisitorText } from '../../components/values.tsx';
import { Confirm } from '../../components/dialog.tsx';
import { Load, Page, RefusalNotice } from '../../components/page.tsx';
import { OlderPages } from '../../components/numbered-pages.tsx';
import { Table } from '../../components/table.tsx';
import { toast } from '../../components/toast.tsx';
import { count } from '../../format/numbers.ts';
import { siteOf, siteParam, whenKnown } from '../../frame/instances.ts';
import { addressOf, useParams } from '../../url/params.ts';

type History = ResponseOf<'/protect/access-rules/history'>;
type Version = Schema<'AccessRuleVersion'>;

const VERSIONS_PER_PAGE = 100;

/** Before the first change. */
const BEGINNING: Version = {
  version: 0,
  at: '',
  by: '',
  byName: '',
  kind: 'create',
  created: 0,
  updated: 0,
  deleted: 0,
};

export default function RuleHistory() {
  const [params] = useParams();
  const before = Number(params['before']);
  const body = {
    ...siteOf(params),
    limit: VERSIONS_PER_PAGE,
    ...(Number.isSafeInteger(before) && before > 0 ? { before } : {}),
  };
  const loaded = useCall('/protect/access-rules/history', whenKnown(body));
  const { value, reload } = loaded;
  const [target, setTarget] = useState<number | null>(null);
  const { isBusy, error, run } = useAction();
  const current = value?.version ?? 0;
  const rollBack = async (version: number, former: number): Promise<void> => {
    const done = await run(call('/protect/access-rules/rollback', { ...siteOf(params), version }));
    setTarget(null);
    reload();
    if (done === null) return;
    const { created, updated, deleted } = done;
    toast(
      `Back at version ${version}: ${count(created)} added, ${count(updated)} changed, ${count(deleted)} deleted.`,
      {
        undo: () => void rollBack(former, version),
      },
    );
  };
  const last = value?.versions.at(-1);
  const hasOlder =
    value !== null &&
    value.versions.length === VERSIONS_PER_PAGE &&
    last !== undefined &&
    last.version > value.oldest + 1;
  const rowsOf = ({ versions, oldest }: History): Version[] =>
    hasOlder || oldest > 0 ? versions : [...versions, BEGINNING];
  return (
    <Page
      title="History of the rules"
      lead="Every change makes a version. Going back makes a new one, so nothing is lost."
      actions={<ButtonLink href={addressOf('/console/rules', siteParam(params))}>Back to the rules</ButtonLink>}
    >
      <RefusalNotice error={error} />
      <Load of={loaded} isEmpty={({ versions }) => versions.length === 0} emptyTitle="No rule was ever changed here">
        {(history) => (
          <Table
            caption="Versions, newest first"
            rows={rowsOf(history)}
            keyOf={({ version }) => String(version)}
            columns={[
              {
                title: 'Version',
                isNumber: true,
                cell: ({ version }) => (
                  <>
                    {version === current && <Chip tone="info">now</Chip>} {version}
                  </>
                ),
              },
              { title: 'Time', cell: ({ at }) => (at === '' ? '–' : <Time at={at} isBrief />) },
              { title: 'What', cell: whatOf },
              { title: 'Added', isNumber: true, cell: ({ created }) => count(created) },
              { title: 'Changed', isNumber: true, cell: ({ updated }) => count(updated) },
              { title: 'Deleted', isNumber: true, cell: ({ deleted }) => count(deleted) },
              { title: 'By', isWide: true, cell: ({ byName }) => <VisitorText text={byName} maxChars={60} /> },
              {
                title: 'Actions',
                cell: ({ version }) =>
                  version !== current &&
                  may('updateProtectSettings') && (
                    <Button isSmall label={`Go back to version ${version}`} onClick={() => setTarget(version)}>
                      Go back
                    </Button>
                  ),
              },
            ]}
          />
        )}
      </Load>
      <OlderPages place={['before']} next={hasOlder ? { before: String(last.version) } : null} />
      {target !== null && (
        <Confirm
          title={`Go back to version ${target}?`}
          verb="Go back"
          isDangerous={false}
          isBusy={isBusy}
          onClose={() => setTarget(null)}
          onConfirm={() => void rollBack(target, current)}
        >
          <p>
            The rules become what they were then. {value !== null && undone(rowsOf(value), target)} You can come back to
            version {current} the same way.
          </p>
        </Confirm>
      )}
    </Page>
  );
}

function whatOf({ version, kind, restores }: Version): string {
  if (version === 0) return 'no rule';
  return restores === undefined ? kinds[kind] : `back to version ${restores}`;
}

const kinds: Readonly<Record<Version['kind'], string>> = {
  create: 'saved rules',
  delete: 'deleted rules',
  import: 'imported rules',
  rollback: 'went back',
};

/** What happened since; only known when all versions since are on the page. */
function undone(versions: readonly Version[], target: number): string {
  const since = versions.filter(({ version }) => version > target);
  if (!versions.some(({ version }) => version === target)) return '';
  const sum = (name: 'created' | 'updated' | 'deleted') => count(since.reduce((total, one) => total + one[name], 0));
  return `Since then, ${sum('created')} were added, ${sum('updated')} changed and ${sum('deleted')} deleted.`;
}
