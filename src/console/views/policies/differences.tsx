/** What changes, or changed, from one set to another. */
import { VisitorText } from '../../components/values.tsx';
import { type ShownDifference, headOf, changedLines } from './difference-lines.ts';

const kinds: Readonly<Record<string, string>> = { policies: 'policy', limits: 'limit', origins: 'origin' };
const classes = { '+': 'file-line file-line-added', '-': 'file-line file-line-removed' } as const;
/** More than anybody reads. The command line lists all of them. */
const SHOWN_MAX = 200;
const LINE_MAX_CHARS = 2000;

export function DifferenceList({ differences }: { differences: Readonly<Record<string, readonly ShownDifference[]>> }) {
  const all = Object.entries(differences).flatMap(([set, list]) =>
    list.map((difference) => ({ kind: kinds[set] ?? set, difference })),
  );
  if (all.length === 0) return <p class="soft">No difference.</p>;
  return (
    <>
      <div class="file-text" role="region" aria-label="Differences" tabIndex={0}>
        {all.slice(0, SHOWN_MAX).map(({ kind, difference }) => (
          <div key={`${kind} ${difference.name} ${difference.change}`}>
            <div class="file-line">
              <b>{headOf(kind, difference)}</b>
            </div>
            {changedLines(kind, difference).map(({ mark, text }, at) => (
              <div key={at} class={classes[mark]}>
                <span class="file-mark">{mark}</span>
                <VisitorText text={text} maxChars={LINE_MAX_CHARS} />
              </div>
            ))}
          </div>
        ))}
      </div>
      {all.length > SHOWN_MAX && <p class="hint">And {all.length - SHOWN_MAX} more.</p>}
    </>
  );
}
