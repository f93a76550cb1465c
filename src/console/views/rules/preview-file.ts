/**
 * The preview of a file of any length. A long one goes in pieces, each of which says what it would change and which of its
 * rules touch a request. What the whole file would have done is then asked for these rules together: the others match no
 * request, so the numbers of requests and addresses are those of the whole file, counted once.
 */
import { call, type Refusal } from '../../api/call.ts';
import { rulePieces, type RulePiece } from '../../../contract/management/rule-file/rule-pieces.ts';
import { failed, ok, type Result } from '../../../result.ts';
import { bodyOfPiece, each, type ImportOptions, linesOfFile } from './import-file.ts';
import type { Preview } from './preview.tsx';

export type PreviewedFile = Pick<ImportOptions, 'site' | 'text' | 'verdict' | 'note'>;

export interface FilePreviewProgress {
  lines: number;
  linesTotal: number;
}

export interface FilePreview extends Preview {
  isInPieces: boolean;
}

/** Half of what the service previews at once. */
const PIECE_LINES = 50_000;
/** A smaller piece is not cut further: the service lists every rule of it that touches a request. */
const PIECE_LINES_MIN = 1000;

type Effect = Preview['effects'][number];

/** @throws when `signal` is aborted. */
export async function previewFile(
  { site, text, verdict, note }: PreviewedFile,
  onProgress: (progress: FilePreviewProgress) => void,
  signal: AbortSignal,
): Promise<Result<FilePreview, Refusal>> {
  const shared = { ...site, verdict, ...(note === '' ? {} : { note }) };
  const waiting = await piecesOf(text, PIECE_LINES);
  const linesTotal = waiting.at(-1)?.lastLine ?? 0;
  const previews: Preview[] = [];
  const touched = new Map<string, Effect>();
  for (let piece = waiting.shift(); piece !== undefined; piece = waiting.shift()) {
    onProgress({ lines: piece.firstLine - 1, linesTotal });
    const [first] = previews;
    const window = first === undefined ? {} : { since: first.since, until: first.until };
    const answer = await call('/protect/access-rules/preview', { ...shared, ...window, ...bodyOfPiece(piece) }, signal);
    const isTooMuch = answer.ok
      ? answer.value.rulesTouched > answer.value.effects.length
      : answer.error.key === 'API.TOO_MANY_ITEMS';
    if (isTooMuch && piece.lastLine - piece.firstLine >= PIECE_LINES_MIN) {
      waiting.unshift(...(await halvesOf(piece)));
      continue;
    }
    if (!answer.ok) return answer;
    previews.push(answer.value);
    for (const effect of answer.value.effects) touched.set(effect.rule, effect);
  }
  onProgress({ lines: linesTotal, linesTotal });
  const [first, ...others] = previews;
  if (first === undefined) return failed(EMPTY);
  if (others.length === 0) return ok({ ...first, isInPieces: false });
  const whole = await effectOf([...touched.values()], previews, site, signal);
  return whole.ok ? ok(merged(whole.value, previews)) : whole;
}

const EMPTY: Refusal = { status: 0, key: 'EMPTY', message: 'The file is empty.', details: [], requestId: null };

async function piecesOf(text: string, maxLines: number): Promise<RulePiece[]> {
  const pieces: RulePiece[] = [];
  for await (const piece of rulePieces(each(linesOfFile(text)), undefined, maxLines)) pieces.push(piece);
  return pieces;
}

async function halvesOf(piece: RulePiece): Promise<RulePiece[]> {
  const halves = await piecesOf(piece.content, Math.ceil((piece.lastLine - piece.firstLine + 1) / 2));
  return halves.map((half) => ({
    ...half,
    format: piece.format ?? half.format,
    columns: piece.columns ?? half.columns,
    firstLine: half.firstLine + piece.firstLine - 1,
    lastLine: half.lastLine + piece.firstLine - 1,
  }));
}

/** What these rules together would have done to the requests that every piece has examined. */
async function effectOf(
  touched: readonly Effect[],
  previews: readonly Preview[],
  site: PreviewedFile['site'],
  signal: AbortSignal,
): Promise<Result<Preview, Refusal>> {
  const [first] = previews as [Preview];
  const rules = touched.flatMap(({ proposed }) => (proposed === null ? [] : [JSON.stringify(proposed)]));
  if (rules.length === 0) return ok(first);
  const since =
    previews
      .map(({ examinedSince }) => examinedSince)
      .sort()
      .at(-1) ?? first.since;
  const { until } = first;
  return call(
    '/protect/access-rules/preview',
    { ...site, since, until, content: rules.join('\n'), format: 'ndjson' },
    signal,
  );
}

function merged(whole: Preview, previews: readonly Preview[]): FilePreview {
  const sum = (name: keyof Preview['plan']) => previews.reduce((total, { plan }) => total + plan[name], 0);
  return {
    ...whole,
    complete: previews.every(({ complete }) => complete) && whole.complete,
    plan: {
      added: sum('added'),
      changed: sum('changed'),
      unchanged: sum('unchanged'),
      removed: sum('removed'),
      refused: sum('refused'),
    },
    refusedLines: previews.flatMap(({ refusedLines }) => refusedLines),
    isInPieces: true,
  };
}
